"""The two networks that a search asks, as tiny protocols: anything with these methods will do (a Run, a mock).

They may be one network with two heads: it is then asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

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


@runtime_checkable
class Both(Policy, Value, Protocol):
    """p and v of one network."""

    @property
    def looks(self) -> bool:
        """Whether it has both heads."""
        ...

    def look(
        self, boards: Sequence[chess.Board]
    ) -> tuple[list[dict[chess.Move, float]], npt.NDArray[np.floating[Any]]]:
        """`priors` and `values` in one call."""
        ...


def ask(
    boards: Sequence[chess.Board], policy: Policy, value: Value
) -> tuple[list[dict[chess.Move, float]], npt.NDArray[np.float64]]:
    """Priors and values of positions, in one call where both are the same network's."""
    if isinstance(policy, Both) and policy is value and policy.looks:
        priors, values = policy.look(boards)
    else:
        priors, values = policy.priors(boards), value.values(boards)
    return priors, np.asarray(values, dtype=np.float64)
