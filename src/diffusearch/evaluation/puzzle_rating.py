"""The rating at which an agent would have scored what it scored against rated puzzles.

Each puzzle counts as one game under the Elo curve: the chance to solve it is 1 / (1 + 10^((puzzle - agent)/400)).
The estimate is the maximum of that likelihood, its interval the ratings that lie within 1.92 of it in log-likelihood.
Solved means mate-tolerant, the rule under which the puzzles earned their ratings. It is a scale for puzzles
only: a lichess puzzle rating says little about strength in games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from diffusearch.evaluation.intervals import Z95

SCALE = math.log(10) / 400  # Elo points -> natural log-odds
RANGE = (-2000.0, 6000.0)  # ratings outside are not told apart from these ends


def puzzle_rating(ratings: Sequence[int], solved: Sequence[bool]) -> dict[str, Any] | None:
    """`estimate` and `interval`; an end that the data cannot bound (all or none solved) is null."""
    if not ratings:
        return None
    puzzles = np.asarray(ratings, dtype=float)
    wins = np.asarray(solved, dtype=float)

    def likelihood(rating: float) -> float:
        odds = SCALE * (rating - puzzles)
        return float(np.sum(wins * odds - np.logaddexp(0.0, odds)))

    def surplus(rating: float) -> float:
        """Expected minus true number of solved puzzles: rises with the rating, zero at the maximum."""
        return float(np.sum(1 / (1 + np.exp(-SCALE * (rating - puzzles)))) - wins.sum())

    count = int(wins.sum())
    if 0 < count < len(wins):
        best = _root(surplus, *RANGE)
        estimate: float | None = best
    else:
        best = RANGE[1] if count else RANGE[0]
        estimate = None
    floor = likelihood(best) - Z95**2 / 2
    low = None if count == 0 else _root(lambda rating: likelihood(rating) - floor, RANGE[0], best)
    high = None if count == len(wins) else _root(lambda rating: floor - likelihood(rating), best, RANGE[1])
    return {"estimate": estimate, "interval": [low, high]}


def _root(rising: Any, low: float, high: float) -> float:
    """Where a rising function crosses zero between low and high, to a hundredth of a point."""
    while high - low > 0.01:
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
