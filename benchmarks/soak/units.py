"""Units of a soak: each is done once, and its counts and faults are one line of its stage's file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from diffusearch.evaluation.json_lines import JsonLines
from diffusearch.evaluation.record import commit
from diffusearch.weights import VERSION


@dataclass
class Outcome:
    """What a unit did, and what was wrong."""

    counts: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    memory: dict[str, tuple[float, float]] = field(default_factory=dict)  # MB before and after, by program

    def add(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number


@dataclass(frozen=True)
class Unit:
    """A piece of work with a name of its own."""

    name: str
    run: Callable[[], Outcome]


@dataclass(frozen=True)
class Stage:
    """Units of one kind; `about` says what they are, for the page."""

    name: str
    about: str
    units: Sequence[Unit]


def done_units(work: Path, stage: str) -> list[dict[str, Any]]:
    """The lines of a stage's file."""
    return JsonLines(work / f"{stage}.jsonl", "unit").read()


def run_stage(stage: Stage, work: Path) -> None:
    """Do what is missing. An exception in a unit is a fault of that unit, not the end of the soak."""
    file = JsonLines(work / f"{stage.name}.jsonl", "unit")
    done = {line["unit"] for line in file.read()}
    for unit in stage.units:
        if unit.name in done:
            continue
        began = time.monotonic()
        try:
            outcome = unit.run()
        except Exception as error:
            outcome = Outcome(faults=[f"{type(error).__name__}: {str(error)[:500]}"])
        facts = {
            "unit": unit.name,
            "seconds": round(time.monotonic() - began, 2),
            "commit": commit(),
            "weights": VERSION,
            "date": datetime.now(UTC).date().isoformat(),
            "pid": os.getpid(),
        }
        file.append([facts | asdict(outcome)])
        print(f"{stage.name}: {unit.name}: {outcome.counts} {outcome.faults or ''}", file=sys.stderr, flush=True)


def scaled(number: int, scale: float, least: int = 1) -> int:
    """A count of the full soak at another scale."""
    return max(least, round(number * scale))


def parts(total: int, size: int) -> list[int]:
    """A total in parts of a size; the last may be smaller."""
    return [min(size, total - start) for start in range(0, total, size)]


def resident(pid: int | None = None) -> float:
    """MB of memory that a process holds now (Linux)."""
    for line in Path(f"/proc/{pid or os.getpid()}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0  # a process that has just ended
