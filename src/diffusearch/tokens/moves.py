"""Actions: the 1968 moves that UCI can name in standard chess, and one token for "the game is over".

A move is a queen's or a knight's step between two squares (1792 of them), or a pawn's step to the last rank
with a piece to become (2 colours x 22 steps x 4 pieces = 176). Castling is the king's step (e1g1).
"""

from __future__ import annotations

from collections.abc import Iterable

import chess
import numpy as np
import numpy.typing as npt

_PROMOTIONS = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


def _all_moves() -> list[chess.Move]:
    moves = []
    for source in chess.SQUARES:
        queen = chess.Board(None)
        queen.set_piece_at(source, chess.Piece(chess.QUEEN, chess.WHITE))
        targets = queen.attacks(source) | chess.SquareSet(chess.BB_KNIGHT_ATTACKS[source])
        for target in targets:
            moves.append(chess.Move(source, target))
            to_last_rank = {1: 0, 6: 7}.get(chess.square_rank(source)) == chess.square_rank(target)
            if to_last_rank and abs(chess.square_file(source) - chess.square_file(target)) <= 1:
                moves.extend(chess.Move(source, target, piece) for piece in _PROMOTIONS)
    return moves


_CHESS_MOVES = _all_moves()

MOVES: tuple[str, ...] = tuple(move.uci() for move in _CHESS_MOVES)
MOVE_ID: dict[str, int] = {uci: index for index, uci in enumerate(MOVES)}

NONE = len(MOVES)  # id of "no move, the game is over"; written as UCI's null move
NONE_UCI = "0000"
VOCABULARY = NONE + 1
LEGAL_BYTES = (VOCABULARY + 7) // 8  # of a set of moves, packed as one bit for each token

# Where each move starts and ends and what it promotes to (0 none, 1..4 = N B R Q); NONE is left out.
SOURCE: npt.NDArray[np.int64] = np.array([move.from_square for move in _CHESS_MOVES])
TARGET: npt.NDArray[np.int64] = np.array([move.to_square for move in _CHESS_MOVES])
PROMOTION: npt.NDArray[np.int64] = np.array([(move.promotion or 1) - 1 for move in _CHESS_MOVES])


def _permutation(flip: int) -> npt.NDArray[np.int64]:
    """The move ids after every square s becomes s ^ flip; NONE stays."""
    turned = [MOVE_ID[chess.Move(m.from_square ^ flip, m.to_square ^ flip, m.promotion).uci()] for m in _CHESS_MOVES]
    return np.array([*turned, NONE])


TURN = _permutation(56)  # ranks mirrored: the board as seen from the other side
MIRROR = _permutation(7)  # files mirrored: a symmetry of chess where nobody may castle


# Ids by promotion << 12 | source << 6 | target, as they are and ranks mirrored: quicker than through UCI text.
_IDS = {(m.promotion or 0) << 12 | m.from_square << 6 | m.to_square: index for index, m in enumerate(_CHESS_MOVES)}
_TURNED_IDS = {place: int(TURN[index]) for place, index in _IDS.items()}


def move_ids(some: Iterable[chess.Move], turned: bool = False) -> list[int]:
    """The tokens of moves (none of them null); `turned` as seen from the other side."""
    ids = _TURNED_IDS if turned else _IDS
    return [ids[(move.promotion or 0) << 12 | move.from_square << 6 | move.to_square] for move in some]


def id_uci(token: int) -> str:
    """The UCI text of a token."""
    return NONE_UCI if token == NONE else MOVES[token]
