"""States: a chess position as one row of 68 small numbers, seen by the player who moves at the record's root.

The row is the project's common currency: `data/` stores rows, and each encoding (paper, compact) is a
vectorised map from rows to tokens and back. `mover` is the colour of the root's mover; for Black the board is
turned (ranks mirrored, colours swapped), so that "own" pieces always walk up the board.

    0..63   squares a1..h8 of the turned board: 0 empty, 1..6 own P N B R Q K, 7..12 the opponent's
    64      castling rights, bits: 1 own short, 2 own long, 4 opponent's short, 8 opponent's long
    65      file of a pawn that can be taken en passant now (1..8), 0 if none (python-chess's "legal" convention)
    66      who is to move: 0 the root's mover, 1 the opponent
    67      half-move clock, held at 255

The full-move number is not in the row: it follows from the root's number and the plies since.
"""

from __future__ import annotations

import chess
import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint8]

WIDTH = 68
CASTLING, EN_PASSANT, SIDE, CLOCK = 64, 65, 66, 67
OWN_KING = 6  # the code of the king of the player who sees the row
CLOCK_LIMIT = 255  # the 75-move rule ends a game at 150
_CODES = np.arange(1, 13, dtype=np.uint8)


class InvalidState(ValueError):
    """A decoded state that is no position of chess; the message is the reason."""


def board_row(board: chess.Board, mover: chess.Color) -> Rows:
    """The row [68] of a position in a record whose root is moved by `mover`."""
    order = "little" if mover else "big"  # reading a bitboard's bytes backwards mirrors the ranks
    own, other = board.occupied_co[mover], board.occupied_co[not mover]
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    masks = b"".join((kind & side).to_bytes(8, order) for side in (own, other) for kind in kinds)  # type: ignore[arg-type]
    bits = np.unpackbits(np.frombuffer(masks, dtype=np.uint8).reshape(12, 8), axis=1, bitorder="little")
    row = np.empty(WIDTH, dtype=np.uint8)
    row[:64] = _CODES @ bits
    rights = board.clean_castling_rights()
    home, away = (chess.BB_RANK_1, chess.BB_RANK_8) if mover else (chess.BB_RANK_8, chess.BB_RANK_1)
    row[CASTLING] = (
        bool(rights & home & chess.BB_FILE_H)
        | bool(rights & home & chess.BB_FILE_A) << 1
        | bool(rights & away & chess.BB_FILE_H) << 2
        | bool(rights & away & chess.BB_FILE_A) << 3
    )
    takable = board.ep_square is not None and board.has_legal_en_passant()
    row[EN_PASSANT] = chess.square_file(board.ep_square) + 1 if takable and board.ep_square is not None else 0
    row[SIDE] = board.turn != mover
    row[CLOCK] = min(board.halfmove_clock, CLOCK_LIMIT)
    return row


def row_board(row: npt.NDArray[np.integer[npt.NBitBase]] | Rows, mover: chess.Color, number: int = 1) -> chess.Board:
    """The position of a row; `number` is its full-move number. Raises InvalidState with the reason."""
    board = chess.Board(None)
    order = "little" if mover else "big"
    masks = np.packbits(row[:64] == _CODES[:, None], axis=1, bitorder="little").tobytes()
    own, other = (
        [int.from_bytes(masks[at : at + 8], order) for at in range(start, start + 48, 8)]  # type: ignore[arg-type]
        for start in (0, 48)
    )
    kinds = [mine | theirs for mine, theirs in zip(own, other, strict=True)]
    board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings = kinds
    board.occupied_co[mover], board.occupied_co[not mover] = sum(own), sum(other)  # no square has two pieces
    board.occupied = sum(kinds)
    board.turn = mover if row[SIDE] == 0 else not mover
    home, away = (chess.BB_RANK_1, chess.BB_RANK_8) if mover else (chess.BB_RANK_8, chess.BB_RANK_1)
    corners = (home & chess.BB_FILE_H, home & chess.BB_FILE_A, away & chess.BB_FILE_H, away & chess.BB_FILE_A)
    board.castling_rights = sum(corner for bit, corner in enumerate(corners) if int(row[CASTLING]) >> bit & 1)
    if row[EN_PASSANT]:
        board.ep_square = chess.square(int(row[EN_PASSANT]) - 1, 5 if board.turn else 2)
    board.halfmove_clock = int(row[CLOCK])
    board.fullmove_number = number
    problem = board_problem(board)
    if problem is None and row[EN_PASSANT] and not board.has_legal_en_passant():
        problem = _STATUS_WORDS[chess.STATUS_INVALID_EP_SQUARE]  # a row names the file only where taking is legal
    if problem:
        raise InvalidState(problem)
    return board


def looking_glass(rows: Rows) -> Rows:
    """Rows [..., 68] with their files mirrored: the same chess as long as nobody may castle."""
    out = rows.copy()
    out[..., :64] = rows[..., np.arange(64) ^ 7]
    file = rows[..., EN_PASSANT]
    out[..., EN_PASSANT] = np.where(file == 0, 0, 9 - file)
    return out


_STATUS_WORDS = {
    chess.STATUS_NO_WHITE_KING: "White has no king",
    chess.STATUS_NO_BLACK_KING: "Black has no king",
    chess.STATUS_TOO_MANY_KINGS: "there are too many kings",
    chess.STATUS_TOO_MANY_WHITE_PAWNS: "White has more than 8 pawns",
    chess.STATUS_TOO_MANY_BLACK_PAWNS: "Black has more than 8 pawns",
    chess.STATUS_PAWNS_ON_BACKRANK: "a pawn stands on the first or last rank",
    chess.STATUS_TOO_MANY_WHITE_PIECES: "White has more than 16 pieces",
    chess.STATUS_TOO_MANY_BLACK_PIECES: "Black has more than 16 pieces",
    chess.STATUS_BAD_CASTLING_RIGHTS: "castling rights without king and rook at home",
    chess.STATUS_INVALID_EP_SQUARE: "no pawn can be taken en passant there",
    chess.STATUS_OPPOSITE_CHECK: "the side that is not to move is in check",
    chess.STATUS_EMPTY: "the board is empty",
    chess.STATUS_RACE_CHECK: "racing kings' rule",
    chess.STATUS_RACE_OVER: "racing kings' rule",
    chess.STATUS_RACE_MATERIAL: "racing kings' rule",
    chess.STATUS_TOO_MANY_CHECKERS: "more than two pieces give check",
    chess.STATUS_IMPOSSIBLE_CHECK: "the checks cannot have come about",
}


def board_problem(board: chess.Board) -> str | None:
    """Why a board is no valid position of chess, in words; None if it is one."""
    status = board.status()
    if status == chess.STATUS_VALID:
        return None
    reasons = [words for flag, words in _STATUS_WORDS.items() if status & flag]
    return "; ".join(reasons) or None
