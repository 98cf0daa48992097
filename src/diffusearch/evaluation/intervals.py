"""How sure a share is: 95 % intervals of counts and of paired differences, bootstrap percentiles, McNemar's test."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

Z95 = 1.959963984540054  # the normal quantile that leaves 2.5 % in each tail


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share; it stays inside [0, 1], also for shares near 0 and 1."""
    if n <= 0:
        return (0.0, 1.0)  # no data excludes nothing
    share = hits / n
    middle = share + Z95**2 / (2 * n)
    half = Z95 * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    scale = 1 + Z95**2 / n
    # at 0 and n the two terms cancel exactly; floating point leaves a remainder
    low = 0.0 if hits == 0 else (middle - half) / scale
    high = 1.0 if hits == n else (middle + half) / scale
    return (low, high)


def paired_interval(both: int, only_first: int, only_second: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of second minus first for two shares of the same rows.

    Newcombe's square-and-add interval for paired data (Statistics in Medicine 17, 1998, method 10): Wilson intervals of
    the two shares, joined by the correlation of their outcomes.
    """
    n = both + only_first + only_second + neither
    if n <= 0:
        return (-1.0, 1.0)
    first, second = both + only_first, both + only_second
    difference = (second - first) / n
    product = first * (n - first) * second * (n - second)
    excess = float(both * neither - only_first * only_second)
    if excess > 0:
        excess = max(0.0, excess - n / 2)  # continuity correction
    correlation = excess / math.sqrt(product) if product else 0.0
    first_low, first_high = (abs(end - first / n) for end in wilson(first, n))
    second_low, second_high = (abs(end - second / n) for end in wilson(second, n))

    def width(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one**2 - 2 * correlation * one * other + other**2))

    return (
        max(-1.0, difference - width(second_low, first_high)),
        min(1.0, difference + width(second_high, first_low)),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test: the two-sided probability of a split at least so uneven if both were equally good."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**n))


def percentile_interval(samples: np.ndarray, share: float = 0.95) -> tuple[float, float]:
    """The middle `share` of bootstrap samples [replicas]."""
    tail = 100 * (1 - share) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return (float(low), float(high))


@dataclass(frozen=True)
class Share:
    """Hits among n trials."""

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
