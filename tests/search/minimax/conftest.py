"""Evaluators that like captures, or find everything even, with predictions by the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import chess
import pytest

from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.search.handmade import Handmade


class Greedy:
    """Likes captures, or what it is told to; predicts states by the rules; values states by material."""

    def __init__(self, *, blind: Sequence[str] = (), value: float | None = None, **likes: float) -> None:
        self.blind, self.value, self.likes = blind, value, likes
        self.asked: list[tuple[int, bool]] = []  # positions of each evaluation, and whether priors were wanted
        self.predicted: list[int] = []  # states of each prediction

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        self.asked.append((len(boards), priors))
        found = Handmade().evaluate(boards, priors=False)
        out = []
        for row, (board, one) in enumerate(zip(boards, found, strict=True)):
            own = list(board.legal_moves) if legal is None else legal[row]
            raw = {move: self.likes.get(move.uci(), 10.0 if board.is_capture(move) else 1.0) for move in own}
            shares = {move: share / sum(raw.values()) for move, share in raw.items()} if priors else {}
            out.append(replace(one, priors=shares, value=self.value or one.value, legal_mass=0.9, raw_legal=True))
        return out

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        self.predicted.append(len(boards))
        return [self._behind(board, move) for board, move in zip(boards, moves, strict=True)]

    def _behind(self, board: chess.Board, move: chess.Move) -> PredictedState:
        if move.uci() in self.blind:
            return PredictedState(None, "White has no king", "K" * 64, -0.25)
        following = board.copy(stack=False)
        following.push(move)
        return PredictedState(chess.Board(following.fen()), log_probability=-0.25)


@pytest.fixture
def greedy() -> Any:
    return Greedy
