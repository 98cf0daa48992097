"""`diffusearch label`: reads games, writes a folder of labelled shards and a manifest, on one machine or many.

A run that was killed continues when the same command runs again: it keeps the finished shards and makes the others.
The folder has the same bytes as that of an unbroken run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diffusearch.data.labelled import labelled_files
from diffusearch.data.labelling import FUTURES, LabelSettings
from diffusearch.data.local_workers import Progress, label_here, label_locally
from diffusearch.data.manifest import Manifest, describe_shard, describe_sources, read_manifest
from diffusearch.data.oracle import Oracle
from diffusearch.data.plan import Choice, ShardInfo, ShardTask, plan
from diffusearch.data.root_positions import PositionSet, position_key
from diffusearch.data.shards import read_column, read_info, shard_paths, write_shard
from diffusearch.data.uci_process import EngineFault
from diffusearch.errors import UserError
from diffusearch.files import locked, make_folder, remove_leftovers, sha256

MULTIPV = 64  # moves that one search may score


@dataclass(frozen=True)
class LabelRun:
    """The options of a labelling run. `workers` and `cluster` do not change the labels."""

    sources: tuple[str, ...]
    out: Path
    choice: Choice
    settings: LabelSettings
    exclude: tuple[str, ...] = ()  # labelled sets whose positions are left out
    workers: int = 1
    cluster: str | None = None  # address of a Ray cluster

    def __post_init__(self) -> None:
        if self.settings.future not in FUTURES:
            raise UserError(f"unknown future {self.settings.future!r}; choose among {', '.join(FUTURES)}")
        for name, value in (
            ("--horizon", self.choice.horizon),
            ("--workers", self.workers),
            ("--shard", self.choice.shard),
        ):
            if value < 1:
                raise UserError(f"{name} {value} is too small; give 1 or more")
        if self.choice.per_game is not None and self.choice.per_game < 1:
            raise UserError(
                f"--per-game {self.choice.per_game} is too small; give 1 or more, or leave it out for all plies"
            )
        if (self.settings.future == "played") != (self.settings.oracle is None):
            raise UserError("the future `played` needs no engine and every other future needs one")
        if not 1 <= self.settings.multipv <= MULTIPV:
            raise UserError(f"--multipv {self.settings.multipv} is out of range; give 1 to {MULTIPV}")
        if self.settings.actions and self.settings.multipv > 1:
            raise UserError(f"--actions scores every move; leave out --multipv {self.settings.multipv}")
        if (self.settings.actions or self.settings.multipv > 1) and self.settings.oracle is None:
            raise UserError(
                "--actions and --multipv need searches, the future `played` makes none; choose another --future"
            )


def label_games(run: LabelRun, progress: Progress) -> Manifest:
    """Make or complete the folder; returns its manifest."""
    make_folder(run.out)
    with locked(run.out / ".lock", f"another run is writing to {run.out}; wait for it or use another --out"):
        manifest = _begin(run)
        finished = {info.index: info for info in map(read_info, shard_paths(run.out))}
        prefix = _prefix(finished)
        seen = _seen(run, prefix)
        progress(sum(info.counts["positions"] for info in finished.values()))
        tasks = plan(run.sources, run.choice, prefix, seen)
        infos = list(prefix)
        for task, rows in _runner(run, _missing(tasks, finished, infos), progress):
            write_shard(run.out, task.info, rows)
            infos.append(task.info)
        return _end(run, manifest, infos)


def _begin(run: LabelRun) -> Manifest:
    manifest = Manifest(sources=describe_sources(list(run.sources)), options=_options(run), engine=_engine(run))
    earlier = read_manifest(run.out)
    if earlier is not None:
        manifest.must_match(earlier, run.out)
    elif shard_paths(run.out):
        raise UserError(f"{run.out} has shards but no manifest; restore manifest.json or use another --out")
    else:
        manifest.write(run.out)
    remove_leftovers(run.out)
    return manifest


def _options(run: LabelRun) -> dict[str, Any]:
    """All options that change the labels, as JSON stores them."""
    options = {**asdict(run.choice), **asdict(run.settings)}
    for name, usual in (("multipv", 1), ("split", None)):
        if options[name] == usual:
            del options[name]  # a folder of an older version can be continued
    oracle = options.pop("oracle") or {}
    filters = options.pop("wanted")
    for kind in ("budget", "extend"):
        if kind in oracle:
            options[kind] = {name: value for name, value in oracle[kind].items() if value is not None}
    options["filter"] = {name: list(value) if isinstance(value, tuple) else value for name, value in filters.items()}
    options["exclude"] = [sha256(file) for path in run.exclude for file in labelled_files(path)]
    return options


def _engine(run: LabelRun) -> dict[str, Any] | None:
    if run.settings.oracle is None:
        return None
    with Oracle(run.settings.oracle) as oracle:
        try:
            return oracle.describe()
        except EngineFault as fault:
            raise UserError(f"the engine {run.settings.oracle.engine} {fault}; give another with --engine") from fault


def _prefix(finished: dict[int, ShardInfo]) -> list[ShardInfo]:
    """The finished shards before the first missing one."""
    prefix: list[ShardInfo] = []
    while len(prefix) in finished:
        prefix.append(finished[len(prefix)])
    return prefix


def _seen(run: LabelRun, prefix: Sequence[ShardInfo]) -> PositionSet:
    seen = PositionSet()
    files = [file for path in run.exclude for file in labelled_files(path)]
    files += [run.out / info.file for info in prefix]
    for fen in read_column(files, "fen"):
        seen.add(position_key(fen or ""))
    return seen


def _missing(tasks: Iterator[ShardTask], finished: dict[int, ShardInfo], infos: list[ShardInfo]) -> Iterator[ShardTask]:
    """The tasks whose shards are not on disk yet; the infos of the others go to `infos`."""
    for task in tasks:
        held = finished.get(task.info.index)
        if held is None:
            yield task
        elif held != task.info:
            raise UserError(f"{held.file} was made from other games; give the same games or another --out")
        else:
            infos.append(held)


def _runner(run: LabelRun, tasks: Iterator[ShardTask], progress: Progress) -> Iterator[Any]:
    if run.settings.oracle is None:
        return label_here(tasks, run.settings, progress)
    if run.cluster is not None:
        from diffusearch.data.cluster import label_on_cluster

        return label_on_cluster(tasks, run.settings, run.cluster, run.workers, progress)
    return label_locally(tasks, run.settings, run.workers, progress)


def _end(run: LabelRun, manifest: Manifest, infos: list[ShardInfo]) -> Manifest:
    infos.sort(key=lambda info: info.index)
    counts: Counter[str] = Counter()
    for info in infos:
        counts.update(info.counts)
    shards = [describe_shard(run.out, info) for info in infos]
    counts["failed"] = sum(reason is not None for reason in read_column((run.out / i.file for i in infos), "failed"))
    complete = Manifest(
        manifest.sources, manifest.options, manifest.engine, complete=True, counts=dict(counts), shards=shards
    )
    complete.write(run.out)
    return complete
