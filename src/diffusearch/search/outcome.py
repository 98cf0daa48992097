"""When a game is over by the rules: mated, drawn, or still going on.

A board needs its move stack for this: without history no repetition can be seen.
"""

from __future__ import annotations

from enum import Enum

import chess

from diffusearch.ending import Ending, ending


class Outcome(Enum):
    """How the game ended, seen by the side to move (which can never have won: it has not moved yet)."""

    MATED = "mated"
    DRAWN = "drawn"


def outcome(board: chess.Board, claims: bool = True) -> Outcome | None:
    """The result of a position; None while the game goes on.

    With `claims` a draw that a player may claim counts as drawn (third occurrence, 50 moves), as in our
    tournaments; without it only the draws that need no claim do (fifth occurrence, 75 moves).
    """
    found = ending(board, claims)
    if found is None:
        return None
    return Outcome.MATED if found is Ending.CHECKMATE else Outcome.DRAWN


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
