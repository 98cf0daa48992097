"""The range of a number, written beside the field it belongs to: `layers: Annotated[int, Range(low=1, high=128)]`."""

from __future__ import annotations

import math
from dataclasses import dataclass


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


def _text(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
