"""Against a bare king: which moves make progress towards mate, by a measure made by hand.

A network gives all positions with a queen or a rook more about the same value, so nothing in its values says which move
brings mate nearer. The textbook does: shut the king in, drive it to the edge or the corner, bring the own king near.
The measure is a weighted sum of the squares that the bare king can reach, the distance of the kings, and the bare
king's distance from the edge and from the nearest corner; smaller is better. With a queen or a rook a move counts by
the measure after it and after the worst reply (7 : 3), with bishops alone by the best that can be reached in the next
move after the worst reply. The weights were chosen by games against Stockfish; nothing is learnt, no table is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from diffusearch.search.outcome import Outcome, outcome

_CORNERS = (chess.A1, chess.A8, chess.H1, chess.H8)
_LOST = 1e6  # measure of a position in which the winner has no safe move
_MATED = -1e6


@dataclass(frozen=True)
class Weights:
    """Of the parts of the measure."""

    reach: float  # each square that the bare king can reach
    kings: float  # distance of the kings in king's moves
    lines: float  # the same in files plus ranks
    edge: float
    corner: float  # distance in king's moves plus that in files and ranks


_HEAVY = Weights(reach=1.0, kings=2.0, lines=0.5, edge=1.0, corner=0.0)
_BISHOPS = Weights(reach=0.3, kings=1.0, lines=0.5, edge=0.0, corner=2.0)


def faces_bare_king(board: chess.Board) -> bool:
    """Whether the other side has only its king, and the side to move has a queen, a rook or bishops of both colours."""
    if chess.popcount(board.occupied_co[not board.turn]) > 1:
        return False
    bishops = board.bishops & board.occupied_co[board.turn]
    pair = bishops & chess.BB_LIGHT_SQUARES and bishops & chess.BB_DARK_SQUARES
    return bool(pair) or _heavy(board, board.turn)


def progressing(board: chess.Board, moves: Sequence[chess.Move]) -> list[chess.Move]:
    """The moves that mate; else those that make most progress and neither draw, repeat nor lose a piece.

    Empty where there is no such move.
    """
    mates: list[chess.Move] = []
    found: dict[chess.Move, float] = {}
    judge = _after_reply if _heavy(board, board.turn) else _after_next_move
    for move in moves:
        board.push(move)
        end = outcome(board)
        repeats = board.halfmove_clock >= 4 and board.is_repetition(2)
        worth = judge(board) if end is None and not repeats and _safe(board) else None
        board.pop()
        if end is Outcome.MATED:
            mates.append(move)
        elif worth is not None:
            found[move] = worth
    least = min(found.values(), default=0.0)
    return mates or [move for move, worth in found.items() if worth <= least + 1e-9]


def _heavy(board: chess.Board, color: chess.Color) -> bool:
    return bool((board.queens | board.rooks) & board.occupied_co[color])


def _safe(board: chess.Board) -> bool:
    """Whether the bare king, to move, has a move and takes nothing."""
    some = False
    for reply in board.legal_moves:
        if board.is_capture(reply):
            return False
        some = True
    return some


def _after_reply(board: chess.Board) -> float:
    """The measure now and after the worst reply, 7 : 3."""
    winner, worst = not board.turn, 0.0
    now = measure(board, winner)
    for reply in list(board.legal_moves):
        board.push(reply)
        worst = max(worst, measure(board, winner))
        board.pop()
    return 0.7 * now + 0.3 * worst


def _after_next_move(board: chess.Board) -> float:
    """The least measure that the winner can reach by the next move, after the worst reply."""
    winner, worst = not board.turn, _MATED
    for reply in list(board.legal_moves):
        board.push(reply)
        best = _LOST
        for move in list(board.legal_moves):
            board.push(move)
            if _safe(board):
                best = min(best, measure(board, winner))
            elif board.is_checkmate():
                best = _MATED
            board.pop()
        board.pop()
        worst = max(worst, best)
    return worst


def measure(board: chess.Board, winner: chess.Color) -> float:
    """How far the bare king is from mate; smaller is nearer."""
    weights = _HEAVY if _heavy(board, winner) else _BISHOPS
    mine, theirs = board.king(winner), board.king(not winner)
    assert mine is not None
    assert theirs is not None
    file, rank = chess.square_file(theirs), chess.square_rank(theirs)
    corner = min(chess.square_distance(theirs, one) + chess.square_manhattan_distance(theirs, one) for one in _CORNERS)
    return (
        weights.reach * chess.popcount(_reachable(board, winner, theirs))
        + weights.kings * chess.square_distance(mine, theirs)
        + weights.lines * chess.square_manhattan_distance(mine, theirs)
        + weights.edge * min(file, 7 - file, rank, 7 - rank)
        + weights.corner * corner
    )


def _reachable(board: chess.Board, winner: chess.Color, king: chess.Square) -> chess.Bitboard:
    """The squares that a bare king reaches by any number of moves, if nothing else moves."""
    without = board.copy(stack=False)
    without.remove_piece_at(king)  # it does not shade the squares behind it
    attacked = 0
    for square in chess.scan_forward(without.occupied_co[winner]):
        attacked |= without.attacks_mask(square)
    reached = chess.BB_SQUARES[king]
    while (further := reached | (_around(reached) & ~attacked)) != reached:
        reached = further
    return reached


def _around(squares: chess.Bitboard) -> chess.Bitboard:
    """The squares and their neighbours."""
    squares |= (squares << 1 & ~chess.BB_FILE_A & chess.BB_ALL) | (squares >> 1 & ~chess.BB_FILE_H)
    return (squares | squares << 8 | squares >> 8) & chess.BB_ALL
