"""From whose perspective and on which scale a search keeps its values. Everything else in this folder asks here.

FAIR: every value is the win probability of the side to move at its node, in [0, 1]. What is p for one side is
1 - p for the other. Being mated is 0, a draw is 1/2. An edge's mean Q(s, a) is from the perspective of the mover at s.

PUBLISHED: what the authors' search does, kept so that the paper's row can be repeated beside the fair one:
1. a delivered mate is scored as *lost* by the one who delivers it (being mated counts +1);
2. win probabilities in [0, 1] are passed up by negation, p, -p, p, ..., although unvisited moves count 0 and draws
   about 0: the scale changes from [0, 1] to [-1, 0] and back with every ply.
It also merges transpositions, counts the root's own evaluation as a simulation, and knows no claimable draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diffusearch.search.outcome import Outcome


@dataclass(frozen=True)
class Conventions:
    """Signs and rules of one search; values are those of the side to move at a node."""

    name: str
    mated: float  # value of being mated
    drawn: float  # value of a draw
    other: Callable[[float], float]  # the same value from the perspective of the other side
    claims: bool  # whether draws that a player may claim count
    merge: bool  # whether equal positions (same FEN, counters too) share one node
    root_counts: bool  # whether the evaluation of the root is one of the simulations

    def value(self, outcome: Outcome) -> float:
        """The value of a finished game for the side to move."""
        return self.mated if outcome is Outcome.MATED else self.drawn


def _complement(value: float) -> float:
    return 1.0 - value


def _negation(value: float) -> float:
    return -value


FAIR = Conventions(name="fair", mated=0.0, drawn=0.5, other=_complement, claims=True, merge=False, root_counts=False)
PUBLISHED = Conventions(
    name="as published", mated=1.0, drawn=1e-8, other=_negation, claims=False, merge=True, root_counts=True
)
