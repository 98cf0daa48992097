"""The ledger of `reproduce all`: every call of the command with the processor time that it spent, by kind of work.

It is written after every job, so that a killed call has its line too.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.files import write_whole

FILE = "work.json"


@dataclass
class Call:
    """One call of the command."""

    began: str  # UTC
    wall_seconds: float = 0.0
    processor_seconds: dict[str, float] = field(default_factory=dict)  # labels, training, measuring, games
    remark: str = ""  # by hand, where the call itself could not count; the page has it after "are"


def read_calls(folder: Path) -> list[Call]:
    """The calls so far."""
    path = folder / FILE
    try:
        return [Call(**one) for one in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []
    except (ValueError, TypeError) as error:
        raise UserError(f"{path} is no ledger of `reproduce all` ({error}): restore or delete it.") from error


def processor_seconds() -> float:
    """Of this process and of the processes that it has waited for, engines among them."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Ledger:
    """The line of this call; it appears with the first work that is noted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._call = Call(datetime.now(UTC).isoformat(timespec="seconds"))
        self._began = time.monotonic()

    def note(self, kind: str, processor_seconds: float) -> None:
        """Add work."""
        spent = self._call.processor_seconds
        spent[kind] = round(spent.get(kind, 0.0) + processor_seconds, 1)
        self._call.wall_seconds = round(time.monotonic() - self._began, 1)
        others = [one for one in read_calls(self._folder) if one.began != self._call.began]
        calls = sorted((*others, self._call), key=lambda one: one.began)
        write_whole(self._folder / FILE, json.dumps([asdict(one) for one in calls], indent=1) + "\n")
