"""`reproduce all`: labels, trains, measures, plays, draws and writes the page; killed at any moment, it goes on.

OUT/labels/SET          labelled sets (labels.py)
OUT/runs/NAME           trained runs
OUT/results, OUT/rows   figures and rows of every agent and metric
OUT/tournament          games of the main table
OUT/reproduction.md     the page, and its pictures in OUT/img
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.files import locked
from diffusearch.reproduce import workers
from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.jobs import MeasureJob, TrainJob, measure_jobs, ordered_runs
from diffusearch.reproduce.labels import LabelSet, complete, label_missing, label_sets
from diffusearch.reproduce.plan import Setting, Stage, resolved, stage_of

LEFT_OUT = ("flagship",)  # exhibits of the package's own weights
ROW_BYTES, RUN_BYTES = 2_000, 40_000_000  # disk space of a labelled position with its records, and of a run
PAGE_EVERY = 600.0  # seconds between pages while runs are trained

Say = Callable[[str], None]


@dataclass(frozen=True)
class Whole:
    """What `reproduce all` is told."""

    setting: Setting  # runs, labels and out lie below one folder
    games: Path  # PGN
    engine: str | None = None
    processes: int = 1
    ray: bool = False

    @property
    def exhibits(self) -> dict[str, Exhibit]:
        """The exhibits of the scale that need no other weights than its own."""
        return {name: one for name, one in exhibits_of(self.setting.scale).items() if name not in LEFT_OUT}

    @property
    def sets(self) -> tuple[LabelSet, ...]:
        return label_sets(self.setting.scale, own_test=self.own_test)

    @property
    def own_test(self) -> bool:
        """Whether the test positions are labelled here, because no file was given."""
        return self.setting.actions == self.setting.labels / "test"


def planned(setting: Setting, games: Path, engine: str | None = None, processes: int = 1, ray: bool = False) -> Whole:
    """The whole with the defaults of its scale filled in."""
    scale, out = setting.scale, setting.out
    filled = replace(
        setting,
        runs=out / "runs",
        labels=out / "labels",
        actions=setting.actions or out / "labels" / "test",
        limit=setting.limit or scale.test_actions,
        puzzle_limit=setting.puzzle_limit or scale.test_puzzles,
        train=True,
    )
    return Whole(filled, games, engine, processes, ray)


def check_whole(whole: Whole) -> None:
    """Refuse what would fail later: engine, games, test files, base recipe, pictures, disk."""
    from diffusearch.data.uci_process import find_engine
    from diffusearch.evaluation.figures import require_matplotlib
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.puzzles import read_puzzles
    from diffusearch.evaluation.record import check_place
    from diffusearch.reproduce.checks import check_base, check_settings

    setting = whole.setting
    if not setting.scale.own_labels:
        raise UserError(
            f"`reproduce all` trains at the scale laptop; for {setting.scale.name} give --plan, which prints its cost, "
            "and train the runs of each exhibit where you have the machines."
        )
    find_engine(whole.engine)
    if not whole.games.is_file():
        raise UserError(f"There is no file of games {whole.games}: give a PGN, plain or compressed, with --games.")
    if setting.puzzles is None:
        raise UserError("`reproduce all` measures puzzles too: give a table of lichess puzzles with --puzzles.")
    read_puzzles(setting.puzzles, 1, skip=setting.skip_puzzles)
    if not whole.own_test and setting.actions:
        read_positions(setting.actions, 1, skip=setting.skip_actions)
    if any(one.partition("=")[0] == "seed" for one in setting.settings):
        raise UserError("--set seed would override seed, which rows with several seeds set: leave it out.")
    for exhibit in whole.exhibits.values():
        check_settings(exhibit, setting)
        check_base(exhibit, setting)
    require_matplotlib()
    check_place(setting.out)
    _check_disk(whole)


def _check_disk(whole: Whole) -> None:
    """Labels, records and runs that are still to be made must fit."""
    setting = whole.setting
    rows = sum(75 * one.games for one in whole.sets if complete(one, setting.labels) is None)
    runs = sum(stage_of(run, setting) is not Stage.FINISHED for run in ordered_runs(whole.exhibits))
    needed = ROW_BYTES * rows + RUN_BYTES * runs
    free = shutil.disk_usage(setting.out).free
    if free < needed:
        raise UserError(
            f"{setting.out} needs about {needed / 1e9:.1f} GB more for labels and runs, and its disk has "
            f"{free / 1e9:.1f} GB free: choose another --out."
        )


def make_all(whole: Whole, say: Say = lambda line: None) -> Path:
    """Do all that is missing; returns the page."""
    from diffusearch.reproduce.report import write_report

    check_whole(whole)
    setting = whole.setting
    busy = f"another `reproduce all` is working in {setting.out}: wait for it, or choose another --out"
    with locked(setting.out / ".lock", busy):
        label_missing(
            whole.sets, setting.scale, whole.games, setting.labels, whole.engine, max(1, whole.processes), say
        )
        _train_and_measure(whole, say)
        play(whole, say)
        return write_report(whole)


def _train_and_measure(whole: Whole, say: Say) -> None:
    """Train the missing runs, most important first; measure what has become possible after each."""
    from diffusearch.reproduce.report import write_report

    setting = whole.setting
    missing = [job for run in ordered_runs(whole.exhibits) if not (job := TrainJob(run, setting)).done()]
    _replay(missing, say)
    written = time.monotonic()
    for line in workers.run(missing, whole.processes, whole.ray):
        say(line)
        _measure(whole, say)
        if time.monotonic() - written > PAGE_EVERY:
            say(f"written so far: {write_report(whole)}")
            written = time.monotonic()
    _measure(whole, say)


def _replay(missing: list[TrainJob], say: Say) -> None:
    """The first run of each labelled set replays it with all cores, before several runs want it at once."""
    from diffusearch.training.sources import open_sources

    seen = set()
    for job in missing:
        recipe = resolved(job.run, job.setting)
        key = (recipe.data, recipe.model.horizon, recipe.model.paradigm == "sa-v")
        if key not in seen:
            seen.add(key)
            open_sources(recipe, say)


def _measure(whole: Whole, say: Say) -> None:
    jobs: list[MeasureJob] = [
        job for job in measure_jobs(whole.exhibits, whole.setting) if not job.done() and job.possible()
    ]
    for line in workers.run(jobs, whole.processes, whole.ray):
        say(line)


def play(whole: Whole, say: Say) -> None:
    """The tournament of the main table's rows, and the pictures of hard puzzles."""
    from diffusearch.reproduce.measure import Made, draw_cases, tournament

    setting, made = whole.setting, Made()
    main = whole.exhibits["main"]
    rows = [MeasureJob(row, "elo", setting) for row in main.rows[: setting.scale.match_rows]]
    ready = {setting.shown(job.row.label): job.text() for job in rows if job.possible()}
    if len(ready) > 1:
        say(f"playing {setting.games} games of each pairing of {len(ready)} agents")
        made.results = {label: {} for label in ready}
        tournament(ready, setting, made, processes=whole.processes, ray=whole.ray)
    cases = [MeasureJob(row, "cases", setting) for row in whole.exhibits["cases"].rows]
    drawn = {setting.shown(job.row.label): job.text() for job in cases if job.possible()}
    if drawn:
        draw_cases(drawn, setting, made)
