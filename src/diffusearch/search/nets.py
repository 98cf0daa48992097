"""The two networks that a search asks, as tiny protocols: anything with these methods will do (a Run, a mock)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import chess
import numpy as np
import numpy.typing as npt


class Policy(Protocol):
    """p(a | s): how likely each legal move is."""

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each board the shares of its legal moves; they sum to 1."""
        ...


class Value(Protocol):
    """v(s): how good a position is for the side to move."""

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.floating[Any]]:
        """For each board the win probability of the side to move, in [0, 1]; shape [boards]."""
        ...
