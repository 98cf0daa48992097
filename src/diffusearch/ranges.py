"""The range of a number, written beside the field it belongs to: `layers: Annotated[int, Range(low=1, high=128)]`."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_type_hints

from diffusearch.errors import UserError


@dataclass(frozen=True)
class Range:
    """The numbers that a field takes. Ends that are left out are open; nan and infinity are in no range."""

    low: float | None = None  # at least this
    high: float | None = None  # at most this
    above: float | None = None  # more than this
    below: float | None = None  # less than this

    def __contains__(self, value: int | float) -> bool:
        """Whether a number lies in the range; integers of any size are compared exactly."""
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    @property
    def words(self) -> str:
        """What a number must be, for an error sentence: "at least 1", "from 0 to 1", "above 0 and below 1"."""
        if self.low is not None and self.high is not None:
            return f"from {_text(self.low)} to {_text(self.high)}"
        ends = [("at least", self.low), ("above", self.above), ("at most", self.high), ("below", self.below)]
        return " and ".join(f"{word} {_text(end)}" for word, end in ends if end is not None) or "a finite number"


Weight = Annotated[float, Range(low=0, high=1e6)]  # of a term in a sum
Share = Annotated[float, Range(low=0, high=1)]


def check_ranges(instance: Any) -> None:
    """Raise a UserError for the first field of a dataclass whose number is outside its annotated range."""
    for name, one in _ranges_of(instance.__class__).items():
        value = getattr(instance, name)
        if value not in one:
            raise UserError(f"{name} is {one.words}, not {value}")


@functools.cache
def _ranges_of(kind: type) -> dict[str, Range]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: one for name, hint in hints.items() for one in get_args(hint)[1:] if isinstance(one, Range)}


def _text(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
