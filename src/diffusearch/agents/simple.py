"""Players without a network: random and greedy-material. The floor of every tournament, and quick in tests."""

from __future__ import annotations

from collections.abc import Sequence

import chess

from diffusearch.agents.onestep import OneStep, Weighed
from diffusearch.search.handmade import balance, gain
from diffusearch.search.outcome import value_after
from diffusearch.tokens.values import win_probability


class RandomAgent(OneStep):
    """Every legal move alike."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        super().__init__(name, temperature=1.0, seed=seed)

    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        return [Weighed(dict.fromkeys(own, 1.0 / len(own)), {}, 0) for own in moves]


class GreedyMaterialAgent(OneStep):
    """Mates if it can, else takes or promotes to the most material, one ply deep; draws lots among equals."""

    def __init__(self, name: str = "greedy-material", seed: int = 0) -> None:
        super().__init__(name, temperature=1.0, seed=seed)

    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        return [_greedy(board, own) for board, own in zip(boards, moves, strict=True)]


def _greedy(board: chess.Board, moves: Sequence[chess.Move]) -> Weighed:
    have = balance(board)
    values: dict[chess.Move, float] = {}
    for move in moves:
        end = value_after(board, move)
        values[move] = win_probability(have + gain(board, move), None) if end is None else end
    best = max(values.values())
    equals = sum(value == best for value in values.values())
    return Weighed({move: 1.0 / equals if value == best else 0.0 for move, value in values.items()}, values, 0)
