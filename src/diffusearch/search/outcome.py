"""When a game is over by the rules: mated, drawn, or still going on.

A board needs its move stack for this: without history no repetition can be seen.
"""

from __future__ import annotations

from enum import Enum

import chess


class Outcome(Enum):
    """How the game ended, seen by the side to move (which can never have won: it has not moved yet)."""

    MATED = "mated"
    DRAWN = "drawn"


def outcome(board: chess.Board, claims: bool = True) -> Outcome | None:
    """The result of a position; None while the game goes on.

    With `claims` a draw that a player may claim counts as drawn (third occurrence, 50 moves), as in our
    tournaments; without it only the draws that need no claim do (fifth occurrence, 75 moves).
    A mate on the hundredth half-move is a mate: it is looked at first.
    """
    if not any(board.generate_legal_moves()):
        return Outcome.MATED if board.is_check() else Outcome.DRAWN
    if board.is_insufficient_material():
        return Outcome.DRAWN
    clock, occurrences = (100, 3) if claims else (150, 5)
    if board.halfmove_clock >= clock:
        return Outcome.DRAWN
    # n occurrences need 4 (n - 1) reversible half-moves: most positions are settled without walking the stack.
    if board.halfmove_clock >= 4 * (occurrences - 1) and board.is_repetition(occurrences):
        return Outcome.DRAWN
    return None


def outcome_after(board: chess.Board, move: chess.Move) -> Outcome | None:
    """The result of the position after a move."""
    board.push(move)
    result = outcome(board)
    board.pop()
    return result


def value_of_last_move(board: chess.Board) -> float | None:
    """After a move that ended the game: its value for the side that made it, mate 1, any draw 1/2; else None."""
    return _movers_value(outcome(board))


def value_after(board: chess.Board, move: chess.Move) -> float | None:
    """Before a move that ends the game: its value for the side to move; None if the game goes on."""
    return _movers_value(outcome_after(board, move))


def _movers_value(result: Outcome | None) -> float | None:
    """A result for the side that made the last move."""
    if result is None:
        return None
    return 1.0 if result is Outcome.MATED else 0.5
