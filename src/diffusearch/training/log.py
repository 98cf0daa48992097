"""The reports of a run: a table on the screen, and every figure in log.csv."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diffusearch.diffusion.loss import Losses
from diffusearch.errors import UserError
from diffusearch.files import write_whole

_EVERY = 10.0  # seconds between lines
_COLUMNS = ("step", "loss", "move acc.", "rate", "records/s", "time left")


@dataclass
class Report:
    """Sums over the micro-batches of one step, or of several."""

    total: float = 0.0
    records: int = 0
    by_type: dict[str, float] = field(default_factory=dict)
    hits: float = 0.0
    rate: float = 0.0  # learning rate of the last step

    def add(self, total: float, losses: Losses, records: int) -> None:
        """Add one micro-batch; everything is weighted by its number of records."""
        self.total += total * records
        self.records += records
        self.hits += losses.action_hits * records
        for kind, value in losses.by_type.items():
            self.by_type[kind] = self.by_type.get(kind, 0.0) + value * records

    def merge(self, other: Report) -> None:
        """Add the sums of a later step."""
        self.total += other.total
        self.records += other.records
        self.hits += other.hits
        self.rate = other.rate
        for kind, value in other.by_type.items():
            self.by_type[kind] = self.by_type.get(kind, 0.0) + value


@dataclass(frozen=True)
class Validation:
    """A measurement on records that are not trained on."""

    score: float  # higher is better: move accuracy, or minus the value error of models without moves
    figures: dict[str, float]


class Log:
    """Averages the reports of steps between lines. Of several processes one `writes`: its own share of each batch."""

    def __init__(self, out: Path, steps: int, start: int, say: Callable[[str], None], writes: bool = True) -> None:
        self.path, self.steps, self.say, self.writes = out / "log.csv", steps, say, writes
        self._sum, self._began, self._from = Report(), time.monotonic(), start
        self._headed = False
        self._board: Any = None  # TensorBoard's writer, from the first figures on
        self._wants_board = True
        if writes and self.path.is_file():
            self._forget_after(start)

    def _forget_after(self, start: int) -> None:
        """Drop the lines of steps that are done again: a killed run may have logged more than its checkpoint knows."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not (step := line.split(b",")[0]).isdigit() or int(step) <= start]
        if len(kept) < len(lines):
            write_whole(self.path, b"".join(kept))

    def add(self, report: Report, step: int, batch: int) -> None:
        """Add a step's report; there is a line every ten seconds and after the last step."""
        total = self._sum
        total.merge(report)
        passed = time.monotonic() - self._began
        if passed < _EVERY and step < self.steps:
            return
        figures = {"loss": total.total / total.records, "noised action hits": total.hits / total.records}
        figures |= {f"loss {kind}": value / total.records for kind, value in sorted(total.by_type.items())}
        speed = (step - self._from) * batch / max(passed, 1e-9)
        figures |= {"learning rate": total.rate, "records/s": speed}
        left = (self.steps - step) * batch / max(speed, 1e-9)
        accuracy = f"{figures['noised action hits']:.1%}" if "loss action" in figures else "-"
        self._row(step, f"{figures['loss']:.5f}", accuracy, f"{total.rate:.2e}", f"{speed:,.0f}", _duration(left))
        self._write(step, figures)
        self._sum, self._began, self._from = Report(), time.monotonic(), step

    def validation(self, result: Validation, step: int) -> None:
        """A line for a validation, at once."""
        words = ", ".join(f"{name} {value:.4f}" for name, value in result.figures.items())
        self._headings()
        self.say(f"{self._step(step)}  validation: {words}")
        self._write(step, {f"validation {name}": value for name, value in result.figures.items()})

    def _headings(self) -> None:
        """The headings of the table, once, above the first line."""
        if not self._headed:
            self._headed = True
            first = _COLUMNS[0].rjust(len(self._step(0)))
            self.say(first + "".join(f"  {name:>{_width(name)}}" for name in _COLUMNS[1:]))

    def _row(self, step: int, *cells: str) -> None:
        """A line of the table."""
        self._headings()
        pairs = zip(cells, _COLUMNS[1:], strict=True)
        self.say(self._step(step) + "".join(f"  {cell:>{_width(name)}}" for cell, name in pairs))

    def _step(self, step: int) -> str:
        """The first column, as wide in every line."""
        return f"{step}/{self.steps}".rjust(max(7, 2 * len(str(self.steps)) + 1))

    def _write(self, step: int, figures: dict[str, float]) -> None:
        """Append to log.csv: all lines, or on a full disk none."""
        if not self.writes:
            return
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerows([step, name, f"{value:.6g}"] for name, value in figures.items())
        try:
            _append(self.path, "step,figure,value\r\n", text.getvalue())
            self._open_board()
            if self._board is not None:
                for name, value in figures.items():
                    self._board.add_scalar(name, value, step)
        except OSError as error:
            reason = error.strerror or error
            raise UserError(
                f"the log in {self.path.parent} cannot be written ({reason}): free some space, then add --resume"
            ) from error

    def _open_board(self) -> None:
        """Start TensorBoard's log, if that extra is installed; log.csv has all figures anyhow."""
        if self._wants_board:
            self._wants_board = False
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                return
            self._board = SummaryWriter(str(self.path.parent / "tensorboard"))

    def close(self) -> None:
        """Write out what is left."""
        if self._board is not None:
            self._board.close()


def _append(path: Path, heading: str, lines: str) -> None:
    """Append lines to a file, the heading first if it is new; what was written in part is taken back."""
    with path.open("ab", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        content = memoryview(((heading if size == 0 else "") + lines).encode())
        try:
            while content:
                content = content[file.write(content) :]
        except OSError:
            with suppress(OSError):
                file.truncate(size)
            raise


def _width(name: str) -> int:
    return max(9, len(name))


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds: "2:05:09"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
