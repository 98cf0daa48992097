"""What ends a game by the rules: mate, stalemate, a dead position, repetition, the count of moves without progress.

A board needs its move stack for this: without history no repetition can be seen.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

import chess


class Ending(Enum):
    """Why a game is over, in the words of the tournaments' logs."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    DEAD = "insufficient material"
    THREEFOLD = "threefold repetition"
    FIVEFOLD = "fivefold repetition"
    FIFTY = "fifty moves"
    SEVENTY_FIVE = "seventy-five moves"

    def score(self, turn: chess.Color) -> Literal["1-0", "0-1", "1/2-1/2"]:
        """The score of the game, with `turn` to move in its last position."""
        if self is not Ending.CHECKMATE:
            return "1/2-1/2"
        return "0-1" if turn == chess.WHITE else "1-0"


def ending(board: chess.Board, claims: bool = True) -> Ending | None:
    """What ends the game in this position; None while it goes on.

    With `claims` a draw that a player may claim (third occurrence, 50 moves) ends it too.
    A mate on the hundredth half-move is a mate: it is looked at first.
    """
    if not any(board.generate_legal_moves()):
        if board.is_check():
            return Ending.CHECKMATE
        return Ending.DEAD if board.is_insufficient_material() else Ending.STALEMATE
    if board.is_insufficient_material():
        return Ending.DEAD
    # n occurrences need 4 (n - 1) reversible half-moves: most positions are settled without walking the stack.
    clock, occurrences = board.halfmove_clock, 3 if claims else 5
    if clock < 4 * (occurrences - 1):
        return None
    if clock >= 150:
        return Ending.SEVENTY_FIVE
    if board.is_repetition(occurrences):
        return Ending.FIVEFOLD if board.is_repetition(5) else Ending.THREEFOLD
    return Ending.FIFTY if claims and clock >= 100 else None
