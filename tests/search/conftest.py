"""Evaluators without weights: by hash or knowing nothing, one that counts its calls, and a small untrained run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import chess
import numpy as np
import pytest
import torch

from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.recipe import recipe_from_dict


class HashNet:
    """Priors and values that look random but follow from the position; equal for a position and its mirror image."""

    def __init__(self) -> None:
        self.batches: list[int] = []  # boards of each call

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        self.batches.append(len(boards))
        return [self.one(board, priors) for board in boards]

    def one(self, board: chess.Board, priors: bool = True) -> Evaluation:
        text = self.text(board)
        value = float(np.float32(self.number(text)))
        if not priors:
            return Evaluation({}, value)
        raw = {move: 0.01 + self.number(text + self.upright(board, move)) ** 4 for move in board.legal_moves}
        return Evaluation({move: weight / sum(raw.values()) for move, weight in raw.items()}, value)

    def text(self, board: chess.Board) -> str:
        """The position as its mover sees it, without clocks."""
        return " ".join((board if board.turn else board.mirror()).fen().split()[:4])

    def number(self, text: str) -> float:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48

    def upright(self, board: chess.Board, move: chess.Move) -> str:
        if board.turn:
            return move.uci()
        turned = (chess.square_mirror(move.from_square), chess.square_mirror(move.to_square), move.promotion)
        return chess.Move(*turned).uci()


class CountingNet:
    """Any network, with the sizes of the batches that it is asked to evaluate and to predict."""

    def __init__(self, net: Any) -> None:
        self.net = net
        self.evaluated: list[int] = []
        self.predicted: list[int] = []

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        self.evaluated.append(len(boards))
        found: list[Evaluation] = self.net.evaluate(boards, legal, priors=priors)
        return found

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        self.predicted.append(len(boards))
        found: list[PredictedState] = self.net.predict(boards, evaluations, moves)
        return found

    @property
    def calls(self) -> int:
        return len(self.evaluated) + len(self.predicted)

    @property
    def positions(self) -> int:
        return sum(self.evaluated) + sum(self.predicted)


class TrueWorld:
    """Any evaluator, with a prediction that knows the rules but for some moves; states carry no history."""

    def __init__(self, evaluator: Any, broken: Sequence[str] = ()) -> None:
        self.evaluate, self.broken = evaluator.evaluate, broken

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        out = []
        for board, move in zip(boards, moves, strict=True):
            after = board.copy(stack=False)
            after.push(move)
            state = PredictedState(chess.Board(after.fen()), log_probability=-0.25)
            if move.uci() in self.broken:
                state = replace(state, board=None, problem="White has no king", squares="K" * 64)
            out.append(state)
        return out


@pytest.fixture
def hash_net() -> HashNet:
    return HashNet()


@pytest.fixture
def counting() -> type[CountingNet]:
    return CountingNet


@pytest.fixture
def true_world() -> type[TrueWorld]:
    return TrueWorld


@pytest.fixture(scope="session")
def small_run() -> Run:
    """An untrained network of one layer. Hardly any state that it predicts is a position."""
    trunk = {"layers": 1, "width": 32, "heads": 2, "attention": "prefix"}
    model = {"horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "root_value": True}
    recipe = recipe_from_dict({"horizons": [0.5, 0.5], "model": model | {"trunk": trunk}})
    with torch.random.fork_rng():
        torch.manual_seed(1)
        net = Denoiser(recipe.model)
    return torch_run(recipe, net)


def _played(fen: str, moves: str) -> chess.Board:
    board = chess.Board(fen)
    for uci in moves.split():
        board.push_uci(uci)
    return board


@pytest.fixture
def played() -> Callable[[str, str], chess.Board]:
    """A board with history: a FEN and the moves played from it."""
    return _played
