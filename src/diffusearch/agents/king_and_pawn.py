"""King and pawn against king: the moves that keep the win, worked out by the rules when first needed.

Such an ending is won or drawn by a single square, which no value between 0 and 1 shows. It is small enough to solve:
from the pawn's promotion backwards, for each square of its file all places of both kings (8,192 positions with either
side to move). No table is stored or loaded. Squares are seen by the side with the pawn, which moves up the board.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import chess
import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]  # [square of the strong king, square of the weak king]
Steps = npt.NDArray[np.int16]

_FAR = 999  # rounds: no win


def _neighbours() -> Flags:
    """Whether a king on one square attacks the other; [64, 64]."""
    table = [[chess.square_distance(a, b) == 1 for b in chess.SQUARES] for a in chess.SQUARES]
    return np.array(table, dtype=np.bool_)


NEAR = _neighbours()


def is_king_and_pawn(board: chess.Board) -> bool:
    """Whether the side to move has its king and one pawn, the other side only its king."""
    return chess.popcount(board.occupied) == 3 and chess.popcount(board.pawns & board.occupied_co[board.turn]) == 1


def winning(board: chess.Board, moves: Sequence[chess.Move]) -> list[chess.Move]:
    """The moves that keep the win and come nearest to it; empty where the ending is drawn."""
    found = {move: _rounds_after(board, move) for move in moves}
    least = min(found.values(), default=_FAR)
    return [move for move, rounds in found.items() if rounds == least] if least < _FAR else []


def _rounds_after(board: chess.Board, move: chess.Move) -> int:
    """How many rounds of working back lead to the position after a move; `_FAR` where it is not won."""
    strong = board.turn
    pawn = next(iter(board.pieces(chess.PAWN, strong)))
    mine, theirs = board.king(strong), board.king(not strong)
    assert mine is not None
    assert theirs is not None
    turn = (lambda square: square) if strong == chess.WHITE else chess.square_mirror
    before = turn(pawn)
    if move.from_square != pawn:
        return int(_solved(before)[turn(move.to_square), turn(theirs)])
    after = turn(move.to_square)
    if chess.square_rank(after) == 7:
        wins = move.promotion == chess.QUEEN and _promotes(after)[turn(mine), turn(theirs)]
        return -9 if wins else _FAR
    # A pawn's move is the best progress: it counts before the king's moves, and the longer one first.
    won = _solved(after)[turn(mine), turn(theirs)] < _FAR
    return before - after if won else _FAR


def _promotes(square: chess.Square) -> Flags:
    """Whether a queen that arrives on a square stays on the board; stalemate is seen elsewhere, by the rules."""
    taken = NEAR[square][None, :] & ~NEAR[square][:, None]
    out: Flags = ~taken
    return out


@functools.cache
def _solved(pawn: chess.Square) -> Steps:
    """With the weak side to move: the rounds after which its loss is known; [strong king, weak king]."""
    kings = np.arange(64)
    apart = ~NEAR & ~np.eye(64, dtype=np.bool_)
    legal = apart & (kings != pawn)[:, None] & (kings != pawn)[None, :]
    checks = np.array([bool(chess.BB_PAWN_ATTACKS[chess.WHITE][pawn] & chess.BB_SQUARES[k]) for k in kings])
    wins = _pushes(pawn) & legal & ~checks[None, :]  # with the strong side to move; it cannot move out of a check given
    rounds: Steps = np.full((64, 64), _FAR, dtype=np.int16)
    # A move of the weak king: to a square that neither the strong king nor the pawn attacks. It may take the pawn.
    free = ~NEAR & ~checks[None, :] & ~np.eye(64, dtype=np.bool_)  # [strong king, square]
    takes = NEAR[pawn][None, :] & ~NEAR[pawn][:, None]  # [strong king, weak king]
    has_move = (free.astype(np.int16) @ NEAR.astype(np.int16)) > 0
    for number in range(_FAR):
        # Every square that the weak king can go to must be won for the side that then moves.
        escape = (free & ~wins) & (kings != pawn)[None, :]
        can_escape = (escape.astype(np.int16) @ NEAR.astype(np.int16)) > 0
        lost = legal & has_move & ~takes & ~can_escape
        new = lost & (rounds == _FAR)
        if not new.any():
            break
        rounds[new] = number
        # A move of the strong king to a place from which the other side loses.
        arrives = (NEAR.astype(np.int16) @ (rounds < _FAR).astype(np.int16)) > 0
        wins |= arrives & legal & ~checks[None, :]
    return rounds


def _pushes(pawn: chess.Square) -> Flags:
    """With the strong side to move: whether moving the pawn wins; [strong king, weak king]."""
    kings = np.arange(64)
    ahead = pawn + 8
    empty = (kings != ahead)[:, None] & (kings != ahead)[None, :]
    if chess.square_rank(ahead) == 7:
        promoted: Flags = empty & _promotes(ahead)
        return promoted
    out: Flags = empty & (_solved(ahead) < _FAR)
    if chess.square_rank(pawn) == 1:
        far = ahead + 8
        out |= empty & (kings != far)[:, None] & (kings != far)[None, :] & (_solved(far) < _FAR)
    return out
