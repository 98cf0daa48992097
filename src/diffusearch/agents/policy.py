"""s-a: play the likeliest move of the policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess

from diffusearch.agents.onestep import OneStep, Weighed
from diffusearch.search.evaluator import Evaluator


class PolicyAgent(OneStep):
    """Arg-max over the legal moves' priors, or a sample from them at a temperature."""

    def __init__(self, net: Evaluator, name: str = "s-a", **settings: Any) -> None:
        super().__init__(name, **settings)
        self.net = net

    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        found = self.net.evaluate(boards)
        return [Weighed(among(one.priors, own), {}, 1) for one, own in zip(found, moves, strict=True)]


def among(priors: dict[chess.Move, float], moves: Sequence[chess.Move]) -> dict[chess.Move, float]:
    """The priors of some moves only, made to sum to 1; alike where the policy gives all of them nothing."""
    shares = [priors[move] for move in moves]
    total = sum(shares)
    if total <= 0.0:
        return dict.fromkeys(moves, 1.0 / len(moves))
    return {move: share / total for move, share in zip(moves, shares, strict=True)}
