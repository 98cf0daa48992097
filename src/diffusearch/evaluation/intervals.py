"""How sure a share is: 95 % intervals for counts, and a seeded bootstrap for everything else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

Z95 = 1.959963984540054  # the normal quantile that leaves 2.5 % in each tail


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share; it stays inside [0, 1] and is honest near both ends."""
    if n <= 0:
        return (0.0, 1.0)  # nothing was seen, so nothing is excluded
    share = hits / n
    middle = share + Z95**2 / (2 * n)
    half = Z95 * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    scale = 1 + Z95**2 / n
    # at the ends the two terms cancel exactly on paper, in floating point only nearly
    low = 0.0 if hits == 0 else (middle - half) / scale
    high = 1.0 if hits == n else (middle + half) / scale
    return (low, high)


def percentile_interval(samples: np.ndarray, share: float = 0.95) -> tuple[float, float]:
    """The middle `share` of bootstrap samples [replicas]."""
    tail = 100 * (1 - share) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return (float(low), float(high))


@dataclass(frozen=True)
class Share:
    """So many hits among n, as every table here shows it."""

    hits: int
    n: int

    @classmethod
    def of(cls, outcomes: Iterable[bool]) -> Share:
        """Count outcomes."""
        seen = list(outcomes)
        return cls(sum(seen), len(seen))

    @property
    def accuracy(self) -> float:
        """The share itself in [0, 1]; 0 where nothing was seen."""
        return self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Wilson."""
        return wilson(self.hits, self.n)

    def to_json(self) -> dict[str, Any]:
        """`n`, `accuracy`, `interval`."""
        return {"n": self.n, "accuracy": self.accuracy, "interval": list(self.interval)}
