"""Contrasts of rows: weighted sums of accuracies on the same positions, with intervals that know of seeds.

The interval has two parts. Positions: each position has its own weighted sum of outcomes (averaged over seeds), and the
mean of these has a standard error. Seeds: two runs of one recipe with other seeds differ, and so would the next; the
spread is estimated from all recipes with several seeds, and counts for each run in the contrast, with the quantile of
Student's t because few runs tell it. Positions on which seeds differ are in both parts: intervals are rather too wide
than too narrow. Rows that decode the same runs differ by no seed: such a contrast is about these runs, and is taken
over the seeds that all of them have. Engines and the package's weights have no spread of seeds either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffusearch.evaluation.intervals import Z95, wilson

Outcomes = npt.NDArray[np.bool_]  # [positions] right or wrong


@dataclass(frozen=True)
class RowOutcomes:
    """A row of an exhibit as measured: the outcomes of each seed, and the names of the runs of seed 0."""

    seeds: tuple[Outcomes, ...]
    runs: tuple[str, ...]  # trained at this scale; none of an engine or the package's weights

    @property
    def accuracies(self) -> list[float]:
        return [float(one.mean()) for one in self.seeds]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval, in shares of 1."""

    value: float
    low: float
    high: float

    def points(self) -> str:
        """In percentage points, for people."""
        return f"{100 * self.value:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


@dataclass(frozen=True)
class Spread:
    """How much a run's accuracy varies over seeds, in shares of 1."""

    deviation: float = 0.0  # standard deviation, pooled over recipes
    seeds: tuple[int, ...] = ()  # of each recipe that it is estimated from

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the deviation."""
        return sum(self.seeds) - len(self.seeds)

    @property
    def wide(self) -> float:
        """The deviation that gives with the normal quantile the interval that Student's t gives with `deviation`."""
        return self.deviation * student95(self.freedom) / Z95 if self.freedom else 0.0


def student95(freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    if freedom <= len(_STUDENT95):
        return _STUDENT95[freedom - 1]
    z, n = Z95, freedom  # Cornish-Fisher
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)


_STUDENT95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def seed_spread(rows: Iterable[RowOutcomes]) -> Spread:
    """The spread over seeds, pooled over the recipes that have several. The rows that decode the same runs count
    together as one recipe, with the mean of their squares."""
    recipes: dict[tuple[str, ...], list[RowOutcomes]] = {}
    for row in rows:
        if row.runs and len(row.seeds) > 1:
            recipes.setdefault(row.runs, []).append(row)
    seeds, squares = [], 0.0
    for each in recipes.values():
        most = max(len(row.seeds) for row in each)
        several = [np.array(row.accuracies) for row in each if len(row.seeds) == most]
        squares += float(np.mean([((one - one.mean()) ** 2).sum() for one in several]))
        seeds.append(most)
    return Spread(math.sqrt(squares / (sum(seeds) - len(seeds))), tuple(seeds)) if seeds else Spread()


def contrast(rows: Mapping[str, RowOutcomes], weights: Mapping[str, float], spread: float) -> Estimate:
    """The weighted sum of rows' accuracies; `spread` is that of seeds."""
    by_run: dict[tuple[str, ...], list[str]] = {}  # rows that decode the same runs
    for label in weights:
        by_run.setdefault(rows[label].runs, []).append(label)
    each, variance = np.zeros(len(next(iter(rows.values())).seeds[0])), 0.0
    for runs, labels in by_run.items():
        seeds = min(len(rows[label].seeds) for label in labels)
        total = 0.0  # the same weights in several rows: what they count for adds up
        for label in labels:
            each = each + weights[label] * np.mean(rows[label].seeds[:seeds], axis=0)
            total += weights[label]
        variance += total**2 * spread**2 / seeds if runs else 0.0
    # one position says nothing of the next
    variance += float(each.var(ddof=1)) / len(each) if len(each) > 1 else 1.0
    half = Z95 * math.sqrt(variance)
    value = float(each.mean())
    return Estimate(value, value - half, value + half)


def accuracy_of(row: RowOutcomes, spread: float) -> Estimate:
    """A row's accuracy. Of one seed: Wilson's interval, made wider by the spread of seeds where a run was trained."""
    if len(row.seeds) > 1:
        mean = contrast({"it": row}, {"it": 1.0}, spread)
        return Estimate(mean.value, max(0.0, mean.low), min(1.0, mean.high))
    hits, n = int(row.seeds[0].sum()), len(row.seeds[0])
    (low, high), value = wilson(hits, n), hits / n
    seeds = Z95 * spread if row.runs else 0.0
    return Estimate(
        value, max(0.0, value - math.hypot(value - low, seeds)), min(1.0, value + math.hypot(high - value, seeds))
    )


def slope(xs: Sequence[float]) -> list[float]:
    """Weights whose contrast is the least-squares slope over x."""
    centred = np.array(xs) - np.mean(xs)
    return list(map(float, centred / (centred**2).sum()))


def line_gain(xs: Sequence[float]) -> list[float]:
    """Weights whose contrast is how much the least-squares line gains from the least x to the greatest."""
    return [weight * (max(xs) - min(xs)) for weight in slope(xs)]


def bow(xs: Sequence[float]) -> list[float]:
    """Weights whose contrast is how far the least-squares parabola lies above its chord, in the middle of the range."""
    x = np.array(xs) - np.mean(xs)
    design = np.stack([np.ones_like(x), x, x**2], axis=1)
    square = np.linalg.pinv(design)[2]
    return list(map(float, -square * ((max(xs) - min(xs)) / 2) ** 2))
