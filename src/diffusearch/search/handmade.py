"""An evaluator without a network, for tests, tuning and benchmarks: material, captures, promotions and checks."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np

from diffusearch.inference.evaluation import Allowed, Evaluation
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


class Handmade:
    """p(a | s) = softmax of what a move wins at once, plus a little for a check; v(s) from the material alone."""

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        values = [float(np.float32(win_probability(balance(board), None))) for board in boards]
        if not priors:
            return [Evaluation({}, value) for value in values]
        moves = [list(board.legal_moves) for board in boards] if legal is None else legal
        return [Evaluation(_gains(board, own), value) for board, own, value in zip(boards, moves, values, strict=True)]


def _gains(board: chess.Board, moves: Sequence[chess.Move]) -> dict[chess.Move, float]:
    scores = np.array([gain(board, move) / 400 + 0.5 * board.gives_check(move) for move in moves])
    powers = np.exp(scores - scores.max())
    return dict(zip(moves, (powers / powers.sum()).tolist(), strict=True))
