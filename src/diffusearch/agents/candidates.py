"""The moves an agent may choose from in a position: the legal ones, or those that the limits allow."""

from __future__ import annotations

import chess

from diffusearch.agents.base import Limits
from diffusearch.errors import UserError


def candidates(board: chess.Board, limits: Limits) -> list[chess.Move]:
    """The root moves in python-chess's order, never empty.

    A drawn position (bare kings, a third repetition) still has moves: nobody needs to claim the draw.
    """
    legal = list(board.legal_moves)
    if not legal:
        reason = "checkmate" if board.is_check() else "stalemate"
        raise UserError(f"there is no move to play in '{board.fen()}' ({reason}); give a position with legal moves")
    if not limits.moves:
        return legal
    allowed = [move for move in legal if move in limits.moves]
    if not allowed:
        wanted = " ".join(move.uci() for move in limits.moves)
        raise UserError(f"none of the root moves '{wanted}' is legal in '{board.fen()}'; give at least one legal move")
    return allowed
