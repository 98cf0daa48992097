"""What a network says of one position, and of the state after one of its moves. Plain chess, no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

Allowed = Sequence[Sequence[chess.Move]]  # the moves that may be played on each board


@dataclass(frozen=True)
class Evaluation:
    """The answer to "which move, and how good": p(a | s) and v(s)."""

    priors: dict[chess.Move, float]  # of the moves that may be played, sum 1; empty where they were not asked for
    value: float | None  # win probability of the side to move, in [0, 1]; None where the network has no value head
    legal_mass: float | None = None  # probability of all legal moves together, without the legality mask
    raw_legal: bool | None = None  # whether the likeliest move is legal without the mask
    context: object | None = field(default=None, repr=False, compare=False)  # the network's keys and values of the root

    def ranked(self) -> list[chess.Move]:
        """The moves of the priors, likeliest first; of equal ones the earlier."""
        return sorted(self.priors, key=self.priors.__getitem__, reverse=True)


@dataclass(frozen=True)
class PredictedState:
    """The state that a network predicts after a move."""

    board: chess.Board | None  # None: what it predicts is no valid position,
    problem: str | None = None  # for this reason,
    squares: str | None = None  # and looks so: 64 characters from a8
    log_probability: float = 0.0  # of all its variables
