"""Two networks made by hand: a policy and a value that need no weights, for tests, tuning and benchmarks.

They know what a beginner knows: material, and that captures, promotions and checks are worth a look.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.tokens.values import win_probability

# Centipawns, the textbook's. The king counts nothing: it never leaves the board.
WORTH = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900, chess.KING: 0}


def balance(board: chess.Board) -> int:
    """Material of the side to move minus the other's, in centipawns."""
    total = 0
    for kind, worth in WORTH.items():
        mine = chess.popcount(board.pieces_mask(kind, board.turn))
        theirs = chess.popcount(board.pieces_mask(kind, not board.turn))
        total += worth * (mine - theirs)
    return total


def gain(board: chess.Board, move: chess.Move) -> int:
    """What a legal move wins at once for the mover, in centipawns: the piece taken plus the piece promoted to."""
    won = WORTH[move.promotion] - WORTH[chess.PAWN] if move.promotion else 0
    if board.is_en_passant(move):
        return won + WORTH[chess.PAWN]
    taken = board.piece_type_at(move.to_square)
    if taken is None or board.is_castling(move):  # castling may be written as king takes rook
        return won
    return won + WORTH[taken]


class MaterialValue:
    """v(s) from the material on the board alone."""

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        return np.array([win_probability(balance(board), None) for board in boards], dtype=np.float32)


class GainPolicy:
    """p(a | s) = softmax of what the move wins at once, plus a little for a check."""

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [self._one(board) for board in boards]

    def _one(self, board: chess.Board) -> dict[chess.Move, float]:
        moves = list(board.legal_moves)
        scores = np.array([gain(board, move) / 400 + 0.5 * board.gives_check(move) for move in moves])
        powers = np.exp(scores - scores.max())
        return dict(zip(moves, (powers / powers.sum()).tolist(), strict=True))
