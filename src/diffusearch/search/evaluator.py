"""The evaluator: what a planner asks about a position, p(a | s) and v(s). A trained run is one; so is a mock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import chess
import numpy as np

from diffusearch.inference.evaluation import Allowed, Evaluation

# A network is never as certain as the rules: its values are kept this far from 0 and 1, so that mate comes first.
DOUBT = 1e-3


class Evaluator(Protocol):
    """Anything that evaluates positions."""

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        """One evaluation a board; `legal` narrows its moves, and without `priors` only values are asked for."""
        ...


class PolicyAndValue:
    """Priors of one network and values of another: the pair of the paper's MCTS."""

    def __init__(self, policy: Evaluator, value: Evaluator) -> None:
        self.policy, self.value = policy, value

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        """Two network calls, or one without priors."""
        values = self.value.evaluate(boards, priors=False)
        if not priors:
            return values
        found = self.policy.evaluate(boards, legal)
        return [replace(one, value=other.value) for one, other in zip(found, values, strict=True)]


def log_odds(probability: float) -> float:
    """log(p / (1 - p)), with p kept `DOUBT` away from 0 and 1."""
    clipped = min(max(probability, DOUBT), 1.0 - DOUBT)
    return float(np.log(clipped / (1.0 - clipped)))


def probability(odds: float) -> float:
    """The inverse of log_odds."""
    return float(1.0 / (1.0 + np.exp(-odds)))
