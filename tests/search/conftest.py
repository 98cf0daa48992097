"""Networks without weights for the tests of the search: by formula, by hash, and ones that count their calls."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import chess
import numpy as np
import numpy.typing as npt
import pytest


class HashNet:
    """Priors and values that look random but follow from the position; equal for a position and its mirror image."""

    def __init__(self) -> None:
        self.batches: list[int] = []  # boards of each call of `values`

    def text(self, board: chess.Board) -> str:
        """The position as its mover sees it, without clocks."""
        return " ".join((board if board.turn else board.mirror()).fen().split()[:4])

    def number(self, text: str) -> float:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big") / 2**48

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        out = []
        for board in boards:
            text = self.text(board)
            raw = {move: 0.01 + self.number(text + self.upright(board, move)) ** 4 for move in board.legal_moves}
            out.append({move: weight / sum(raw.values()) for move, weight in raw.items()})
        return out

    def upright(self, board: chess.Board, move: chess.Move) -> str:
        if board.turn:
            return move.uci()
        turned = (chess.square_mirror(move.from_square), chess.square_mirror(move.to_square), move.promotion)
        return chess.Move(*turned).uci()

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        self.batches.append(len(boards))
        return np.array([self.number(self.text(board)) for board in boards], dtype=np.float32)


class FlatNet:
    """Knows nothing: all moves alike, every position even."""

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [{move: 1 / board.legal_moves.count() for move in board.legal_moves} for board in boards]

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        return np.full(len(boards), 0.5, dtype=np.float32)


@pytest.fixture
def hash_net() -> HashNet:
    return HashNet()


@pytest.fixture
def flat_net() -> FlatNet:
    return FlatNet()


def _played(fen: str, moves: str) -> chess.Board:
    board = chess.Board(fen)
    for uci in moves.split():
        board.push_uci(uci)
    return board


@pytest.fixture
def played() -> Callable[[str, str], chess.Board]:
    """A board with history: a FEN and the moves played from it."""
    return _played
