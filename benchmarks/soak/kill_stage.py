"""Kills (SIGKILL) of label, train, tournament and reproduce: what resumes must equal what was never interrupted."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from soak.units import Outcome, Stage, Unit, parts, scaled

KILLS = {"label": 60, "tournament": 60, "train": 50, "reproduce": 30}
PART = 10
FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
TINY = """
threads = 1
[model.trunk]
layers = 1
width = 16
heads = 2
dropout = 0.0
[data]
sources = [{{ path = "{fixtures}/labelled/shard-000002.parquet" }}]
cache = "{cache}"
[optimiser]
steps = {steps}
batch = 8
[watch]
checkpoint_every = 4
validate_every = {steps}
validate_records = 4
"""


@dataclass(frozen=True)
class Verb:
    """A verb that can be killed: its words for a folder, and what must come out alike."""

    words: Callable[[Path], list[str]]  # gets the folder; the result goes to its `out`
    digest: Callable[[Path], dict[str, str]]  # gets `out`


def stage(scale: float, work: Path) -> Stage:
    units = []
    for name, count in KILLS.items():
        for n, kills in enumerate(parts(scaled(count, scale), PART)):
            units.append(Unit(f"{name} {n}", partial(killed, name, n, kills, work / "kills" / name)))
    about = (
        "programs are killed (SIGKILL, alone or with the processes that they started) at random moments between their "
        "first write and their end, and started again with the same words until they finish; labels, weights, "
        "checkpoints, logs, games and measured rows must equal those of a program that was never killed, none twice"
    )
    return Stage("kills", about, units)


def killed(name: str, number: int, kills: int, home: Path) -> Outcome:
    """So many kills; whenever the program finishes, its result is compared and a new folder begins."""
    verb, lots, outcome = VERBS[name], random.Random(1000 * number + len(name)), Outcome()
    whole, begin, end = _reference(verb, home)
    folder = home / "work"
    shutil.rmtree(folder, ignore_errors=True)
    while outcome.counts.get("kills", 0) < kills:
        moment = lots.uniform(0.9 * begin, max(end, begin + 0.1))
        if _run(verb, folder, moment, group=lots.random() < 0.5, outcome=outcome):
            _compare(verb, folder, whole, name, outcome)
    if not _run(verb, folder, None, group=False, outcome=outcome):
        outcome.faults.append(f"{name}: did not finish")
    _compare(verb, folder, whole, name, outcome)
    outcome.counts = {f"{name}: {what}": count for what, count in outcome.counts.items()}
    return outcome


def _command(verb: Verb, folder: Path) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return [sys.executable, "-m", "diffusearch", *verb.words(folder)]


def _run(verb: Verb, folder: Path, moment: float | None, group: bool, outcome: Outcome) -> bool:
    """Start the program and kill it after so many seconds; True if it finished before that."""
    process = subprocess.Popen(_command(verb, folder), stdout=-3, stderr=-1, text=True, start_new_session=True)
    try:
        _, errors = process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()
        outcome.add("kills")
        return False
    if process.returncode != 0:
        outcome.faults.append(f"ended with code {process.returncode}: {errors[-300:]}")
    return True


def _compare(verb: Verb, folder: Path, whole: dict[str, str], name: str, outcome: Outcome) -> None:
    outcome.add("results compared")
    found = verb.digest(folder / "out")
    if found != whole:
        differ = sorted(key for key in {*found, *whole} if found.get(key) != whole.get(key))
        kept = folder.with_name(f"differs-{time.time_ns()}")
        shutil.copytree(folder, kept)
        outcome.faults.append(f"{name}: {', '.join(differ)[:300]} differ, see {kept}")
    shutil.rmtree(folder)


def _reference(verb: Verb, home: Path) -> tuple[dict[str, str], float, float]:
    """The result of a program that is not killed, and the seconds of its first write and of its end."""
    file, folder = home / "reference.json", home / "work"
    if not file.is_file():
        shutil.rmtree(home, ignore_errors=True)
        for _ in range(2):  # the first fills caches that are shared by all later ones
            shutil.rmtree(folder, ignore_errors=True)
            began, first = time.monotonic(), 0.0
            process = subprocess.Popen(_command(verb, folder), stdout=-3, stderr=-1, text=True)
            while process.poll() is None:
                time.sleep(0.02)
                if not first and any((folder / "out").glob("*")):
                    first = time.monotonic() - began
            if process.returncode != 0:
                assert process.stderr is not None
                raise RuntimeError(process.stderr.read()[-500:])
        end = time.monotonic() - began
        file.write_text(json.dumps([verb.digest(folder / "out"), first, end]))
    whole, first, end = json.loads(file.read_text())
    return whole, first, end


# --- the verbs -------------------------------------------------------------------------------------------------------


def _hash(content: bytes | str) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _label(folder: Path) -> list[str]:
    words = f"label {FIXTURES / 'games.pgn'} --out {folder / 'out'} --nodes 100 --extend-nodes 50 --per-game 4"
    return [*words.split(), *["--limit-games", "40", "--horizon", "2", "--shard", "8", "--workers", "2"]]


def _labels(out: Path) -> dict[str, str]:
    return {path.name: _hash(path.read_bytes()) for path in out.iterdir() if path.name != ".lock"}


def _tournament(folder: Path) -> list[str]:
    words = f"tournament --out {folder / 'out'} --games 24 --max-plies 80 --together 2 --replicas 10"
    return [*words.split(), "--agents", "random", "greedy-material", "random?seed=1"]


def _games(out: Path) -> dict[str, str]:
    """The games in any order, but none missing or twice; those of the PGN in the order of the schedule."""
    games = sorted((out / "games.jsonl").read_text().splitlines())
    ratings = json.dumps(json.loads((out / "tournament.json").read_text())["ratings"])
    pgn = (out / "games.pgn").read_bytes()
    return {"games": _hash("\n".join(games)), "count": str(len(games)), "pgn": _hash(pgn), "ratings": _hash(ratings)}


def _recipe(folder: Path, steps: int) -> Path:
    path = folder.parent / "tiny.toml"
    path.write_text(TINY.format(fixtures=FIXTURES, cache=folder.parent / "cache", steps=steps))
    return path


def _train(folder: Path) -> list[str]:
    return ["train", str(_recipe(folder, 60)), "--out", str(folder / "out"), "--resume"]


def _run_files(out: Path) -> dict[str, str]:
    """Tensors of weights and checkpoint, and the figures of the log without those that tell the time."""
    from diffusearch.training.checkpoint import load_tensors

    found = {"recipe": _hash((out / "recipe.toml").read_bytes())}
    for name in ("weights", "checkpoint"):
        tensors = load_tensors(out / f"{name}.safetensors")[0]
        found[name] = _hash(b"".join(key.encode() + tensors[key].numpy().tobytes() for key in sorted(tensors)))
    log = [line.rsplit(",", 1) for line in (out / "log.csv").read_text().splitlines()]
    # losses are means since the last line or start, and lines come by the clock: only that none is there twice
    found["log lines twice"] = str(len(log) - len({name for name, _ in log}))
    return found | {"validation": _hash(str([line for line in log if ",validation" in line[0]]))}


def _reproduce(folder: Path) -> list[str]:
    words = f"reproduce steps --train --recipe {_recipe(folder, 20)} --limit 8 --runs {folder / 'out' / 'runs'}"
    tests = FIXTURES / "labelled" / "shard-000000.parquet"
    return [*words.split(), "--out", str(folder / "out"), "--actions", str(tests)]


def _exhibit(out: Path) -> dict[str, str]:
    rows = {path.name: _hash(path.read_bytes()) for path in (out / "rows").iterdir()}
    return rows | _run_files(out / "runs" / "s-asa")


VERBS = {
    "label": Verb(_label, _labels),
    "tournament": Verb(_tournament, _games),
    "train": Verb(_train, _run_files),
    "reproduce": Verb(_reproduce, _exhibit),
}
