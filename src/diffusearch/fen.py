"""A FEN from a user or a file: a board that can be played on, or one sentence that says what is wrong with it."""

from __future__ import annotations

import chess

from diffusearch.errors import UserError

HIGHEST = 9999  # half-move clock and move number; no game has as many
LONGEST = 200  # characters; a FEN has at most about 100


def position_of(fen: str) -> chess.Board:
    """The board of a FEN, or a UserError."""
    shown = fen.strip()[:100]
    if len(fen.strip()) > LONGEST:
        raise UserError(f"{shown!r}... is not a FEN (it has {len(fen.strip())} characters); write one position.")
    try:
        board = chess.Board(fen.strip())
    except ValueError as error:
        raise UserError(
            f"{shown!r} is not a FEN ({error}); write board, side to move, castling, en passant and the two clocks."
        ) from error
    if max(board.halfmove_clock, board.fullmove_number) > HIGHEST:
        raise UserError(f"{shown!r} counts more than {HIGHEST} moves; write smaller clocks.")
    if not board.is_valid():
        from diffusearch.tokens.states import board_problem  # needs numpy, which `uci` starts without

        raise UserError(f"{shown!r} is not a playable position: {board_problem(board)}.")
    return board


def board_of(text: str) -> chess.Board:
    """The board of a FEN, or of the word `startpos`."""
    return chess.Board() if text.strip() == "startpos" else position_of(text)
