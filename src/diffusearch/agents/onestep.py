"""Agents that weigh each legal move once and play: what policy and value agents share.

A subclass says how moves are weighed for a batch of boards; choosing, batching and ranking are here.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.chance import choose
from diffusearch.agents.drawing_moves import root_moves
from diffusearch.agents.strength import Strength
from diffusearch.search.evaluator import Evaluator

# Values become probabilities by exp(value / SPREAD): 5 points of win probability are a factor e.
SPREAD = 0.05


@dataclass(frozen=True)
class Weighed:
    """The candidates of a position: probabilities (sum 1) and, where known, the mover's win probability after each."""

    shares: dict[chess.Move, float]
    values: dict[chess.Move, float]  # empty where the agent knows no values
    nodes: int  # positions that the network evaluated


def shares_of(values: Mapping[chess.Move, float]) -> dict[chess.Move, float]:
    """Shares from the mover's win probabilities: a softmax with the spread above; the best value has the largest."""
    scores = np.fromiter(values.values(), dtype=np.float64, count=len(values)) / SPREAD
    powers = np.exp(scores - scores.max())
    powers /= powers.sum()
    return dict(zip(values, powers.tolist(), strict=True))


class OneStep(Agent):
    """An agent with one look at the position and no search."""

    def __init__(
        self,
        name: str,
        temperature: float = 0.0,
        strength: int = 100,
        seed: int = 0,
        provenance: dict[str, Any] | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        """`provenance` says what network the agent asks; `evaluator` says whether a draw is to be avoided."""
        self.name, self.evaluator = name, evaluator
        self.temperature = Strength(strength).temperature(temperature)
        self.seed = seed
        self._provenance = provenance or {}

    @property
    def provenance(self) -> dict[str, Any]:
        return self._provenance

    @abstractmethod
    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        """Weigh the given moves of each board; all boards in as few network calls as possible."""

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        return self.play_many([board], limits)[0]

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        start = time.perf_counter()
        weighed = self.weigh(boards, root_moves(boards, limits, self.evaluator))
        seconds = (time.perf_counter() - start) / max(1, len(boards))
        return [
            _decision(choose(one.shares, self.temperature, self.seed, board), one, seconds)
            for board, one in zip(boards, weighed, strict=True)
        ]

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        """The `lines` moves with the largest probabilities, best first, whatever the temperature."""
        start = time.perf_counter()
        (one,) = self.weigh([board], root_moves([board], limits, self.evaluator))
        seconds = time.perf_counter() - start
        ranked = sorted(one.shares, key=lambda move: -one.shares[move])
        return [_decision(move, one, seconds) for move in ranked[:lines]]


def _decision(move: chess.Move, one: Weighed, seconds: float) -> Decision:
    return Decision(
        move=move,
        probabilities=one.shares,
        line=(move,),
        value=one.values.get(move),
        nodes=one.nodes,
        seconds=seconds,
    )
