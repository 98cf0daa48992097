"""What a run says while it goes: a line now and then, and log.csv."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diffusearch.diffusion.loss import Losses

_EVERY = 10.0  # seconds between lines


@dataclass
class Report:
    """Sums over the micro-batches of one step."""

    total: float = 0.0
    records: int = 0
    by_type: dict[str, float] = field(default_factory=dict)
    hits: float = 0.0

    def add(self, total: float, losses: Losses, records: int) -> None:
        """Add one micro-batch; everything is weighted by its number of records."""
        self.total += total * records
        self.records += records
        self.hits += losses.action_hits * records
        for kind, value in losses.by_type.items():
            self.by_type[kind] = self.by_type.get(kind, 0.0) + value * records


@dataclass(frozen=True)
class Validation:
    """A measurement on held-out games."""

    score: float  # higher is better: action accuracy, or minus the loss where there are no actions
    figures: dict[str, float]


class Log:
    """Averages reports between lines."""

    def __init__(self, out: Path, steps: int, start: int, say: Callable[[str], None]) -> None:
        self.path, self.steps, self.say = out / "log.csv", steps, say
        self._sum, self._began, self._from = Report(), time.monotonic(), start
        self._types: list[str] = []
        self._board: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(out / "tensorboard"))
        except ImportError:  # the extra is not installed: log.csv has it all
            pass

    def add(self, report: Report, step: int, batch: int) -> None:
        """Take a step's report; every ten seconds it becomes a line."""
        total = self._sum
        total.total += report.total
        total.records += report.records
        total.hits += report.hits
        for kind, value in report.by_type.items():
            total.by_type[kind] = total.by_type.get(kind, 0.0) + value
        passed = time.monotonic() - self._began
        if passed < _EVERY and step < self.steps:
            return
        figures = {"loss": total.total / total.records, "noised action hits": total.hits / total.records}
        figures |= {f"loss {kind}": value / total.records for kind, value in sorted(total.by_type.items())}
        rate = (step - self._from) * batch / max(passed, 1e-9)
        figures["records/s"] = rate
        left = (self.steps - step) * batch / max(rate, 1e-9)
        words = " ".join(f"{name} {value:.4g}" for name, value in figures.items())
        self.say(f"step {step}/{self.steps} {words} left {left / 60:.0f} min")
        self._write(step, figures)
        self._sum, self._began, self._from = Report(), time.monotonic(), step

    def validation(self, result: Validation, step: int) -> None:
        """A measurement becomes a line at once."""
        words = " ".join(f"{name} {value:.4f}" for name, value in result.figures.items())
        self.say(f"step {step}/{self.steps} validation: {words}")
        self._write(step, {f"validation {name}": value for name, value in result.figures.items()})

    def _write(self, step: int, figures: dict[str, float]) -> None:
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(["step", "figure", "value"])
            writer.writerows([step, name, f"{value:.6g}"] for name, value in figures.items())
        if self._board is not None:
            for name, value in figures.items():
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush."""
        if self._board is not None:
            self._board.close()
