"""Planned runs: their training, and the processor time, calls, record-passes and digests of trained ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from diffusearch.evaluation.json_lines import JsonLines
from diffusearch.files import sha256
from diffusearch.reproduce.digests import SHORT, content_digest, recipe_digest
from diffusearch.reproduce.exhibits import Row
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, resolved, stage_of

SECONDS = "seconds.jsonl"  # below a run's folder: processor time of each call that trained it
EVERY = 30.0  # seconds between notes: a kill loses no more


def named(run: PlannedRun) -> str:
    """The name of a run in results."""
    return f"package/{run.packaged}" if run.packaged else run.name


def ready(run: PlannedRun, setting: Setting) -> bool:
    """Whether the weights of a run are here: trained, or part of the package."""
    return bool(run.packaged) or stage_of(run, setting) is Stage.FINISHED


def train_planned(run: PlannedRun, setting: Setting, resume: bool, say: Callable[[str], None]) -> None:
    """Train a run. A signal that comes in its last step ends the process too: more work would follow."""
    from diffusearch.training.loop import train

    trained = train(resolved(run, setting), setting.runs / run.name, resume=resume, report=say)
    if trained.late_signal is not None:
        raise SystemExit(trained.late_signal)


def agent_of(row: Row) -> str:
    """The agent's text of a row, with run names instead of folders."""
    return row.text({run.name: named(run) for run in row.runs})


def place(run: PlannedRun, setting: Setting) -> str:
    """The folder of a run's weights, as agents' texts have it."""
    return run.packaged or str((setting.runs / run.name).absolute())


class Clock:
    """The time that a call spends on a run, noted again and again."""

    def __init__(self, folder: Path) -> None:
        self._file = JsonLines(folder / SECONDS, "call")
        self._file.read()  # drops a last line that a kill cut short
        self._call = f"{datetime.now(UTC).isoformat(timespec='seconds')} {os.getpid()}"
        self._began = self._processor, self._wall = time.process_time(), time.monotonic()

    def note(self, at_least: float = EVERY) -> None:
        """Write down the time since the last note, if it is long enough."""
        processor, wall = time.process_time(), time.monotonic()
        if wall - self._wall >= at_least:
            spent = {"processor": processor - self._processor, "wall": wall - self._wall}
            self._file.append([{"call": self._call} | spent])
            self._processor, self._wall = processor, wall

    @property
    def spent(self) -> float:
        """Processor seconds of this call."""
        return time.process_time() - self._began[0]


@contextmanager
def clock(folder: Path) -> Iterator[Clock]:
    """Count a call."""
    it = Clock(folder)
    try:
        yield it
    finally:
        it.note(at_least=0.0)


@dataclass(frozen=True)
class TrainingCost:
    """What went into a run."""

    seconds: float  # of processor time
    calls: int


def training_cost(folder: Path) -> TrainingCost | None:
    """What a run's folder tells; None where nothing was noted."""
    path = folder / SECONDS
    if not path.exists():
        return None
    lines = JsonLines(path, "call").read()
    calls = {line.get("call", str(number)) for number, line in enumerate(lines)}
    return TrainingCost(sum(float(line["processor"]) for line in lines), len(calls))


def about(run: PlannedRun, setting: Setting) -> dict[str, Any]:
    """What a result tells of a run behind it."""
    from diffusearch.training import checkpoint

    if run.packaged:
        return {"recipe": recipe_digest(run, setting), "packaged": True}
    folder, recipe = setting.runs / run.name, resolved(run, setting)
    weights = folder / "weights.safetensors"
    last = next(path for name in ("checkpoint", "weights") if (path := folder / f"{name}.safetensors").is_file())
    steps = checkpoint.count(checkpoint.load_facts(last), "step", last)
    sets = {Path(source.path).name for source in recipe.data.sources}
    spent = training_cost(folder) or TrainingCost(0.0, 0)
    return {
        "recipe": recipe_digest(run, setting),
        "labels": {name: content_digest(setting.labels / name) for name in sorted(sets)},
        "weights": sha256(weights)[:SHORT],
        "seed": recipe.seed,
        "record_passes": steps * recipe.optimiser.batch,
        "processor_seconds": spent.seconds,
        "calls": spent.calls,
    }
