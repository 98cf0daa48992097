"""Contrasts of rows: weighted sums of accuracies on the same positions, with intervals that know of seeds.

The interval has two parts. Positions: each position has its own weighted sum of outcomes (averaged over seeds), and the
mean of these has a standard error. Seeds: two runs of one recipe with other seeds differ, and so would the next; the
spread is estimated from all rows with several seeds, and counts for each run in the contrast. Rows that decode the same
runs differ by no seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffusearch.evaluation.intervals import Z95, wilson

Outcomes = npt.NDArray[np.bool_]  # [positions] right or wrong


@dataclass(frozen=True)
class RowOutcomes:
    """A row of an exhibit as measured: the outcomes of each seed, and the names of the runs of seed 0."""

    seeds: tuple[Outcomes, ...]
    runs: tuple[str, ...]

    @property
    def accuracies(self) -> list[float]:
        return [float(one.mean()) for one in self.seeds]

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """[positions] share of seeds that are right."""
        average: npt.NDArray[np.float64] = np.mean([one.astype(np.float64) for one in self.seeds], axis=0)
        return average


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, in shares of 1."""

    value: float
    low: float
    high: float

    def points(self) -> str:
        """In percentage points, for people."""
        return f"{100 * self.value:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def seed_spread(rows: Sequence[RowOutcomes]) -> float:
    """The standard deviation of a run's accuracy over seeds, pooled over the rows that have several; 0 without any."""
    several = [np.array(row.accuracies) for row in rows if len(row.seeds) > 1]
    if not several:
        return 0.0
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in several)
    return math.sqrt(squares / sum(len(one) - 1 for one in several))


def contrast(rows: Mapping[str, RowOutcomes], weights: Mapping[str, float], spread: float) -> Estimate:
    """The weighted sum of rows' accuracies; `spread` is that of seeds."""
    each = sum(weight * rows[label].mean for label, weight in weights.items())
    assert isinstance(each, np.ndarray)
    value, error = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each))) if len(each) > 1 else 0.0
    by_run: dict[tuple[str, ...], tuple[float, int]] = {}  # the same weights in several rows: their weights add up
    for label, weight in weights.items():
        row = rows[label]
        total, seeds = by_run.get(row.runs, (0.0, len(row.seeds)))
        by_run[row.runs] = (total + weight, min(seeds, len(row.seeds)))
    variance = error**2 + sum(weight**2 * spread**2 / seeds for weight, seeds in by_run.values())
    half = Z95 * math.sqrt(variance)
    return Estimate(value, value - half, value + half)


def accuracy_of(row: RowOutcomes, spread: float) -> Estimate:
    """A row's accuracy: Wilson's interval for one seed, else that of the mean over seeds."""
    if len(row.seeds) == 1:
        hits, n = int(row.seeds[0].sum()), len(row.seeds[0])
        return Estimate(hits / n, *wilson(hits, n))
    return contrast({"it": row}, {"it": 1.0}, spread)


def slope(xs: Sequence[float]) -> list[float]:
    """Weights whose contrast is the least-squares slope over x."""
    centred = np.array(xs) - np.mean(xs)
    return list(map(float, centred / (centred**2).sum()))


def bend(xs: Sequence[float]) -> list[float]:
    """Weights whose contrast is the coefficient of the square in a least-squares parabola over x."""
    x = np.array(xs) - np.mean(xs)
    design = np.stack([np.ones_like(x), x, x**2], axis=1)
    return list(map(float, np.linalg.pinv(design)[2]))
