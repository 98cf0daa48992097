"""Positions for measuring only: a record that meets one of them, at its root or in its future, is not learnt from.

Splits by game keep whole games apart, yet games share their openings, and an oracle's line may walk into any position.
Here positions count, not games: equal boards, rights and side to move (clocks aside), the colours exchanged or not,
the files mirrored or not (`data.mirror` shows a record in the looking glass).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.games import SourceGame, entries
from diffusearch.data.pgn import Broken
from diffusearch.data.records import Records
from diffusearch.errors import UserError
from diffusearch.tokens.states import CASTLING, CLOCK, Rows, board_row, looking_glass

Keys = npt.NDArray[np.uint64]

_CHUNK = 65536  # records looked at in one piece
# A row's key is a sum of fixed random multiples of its numbers, modulo 2^64: one product for a whole array of rows.
_MULTIPLES = np.random.default_rng(0).integers(1, 2**63, CLOCK, dtype=np.uint64) * 2 + 1


def row_keys(rows: Rows) -> Keys:
    """Keys [...] of rows [..., 68]: equal for equal positions in the same frame, whatever their clocks."""
    return rows[..., :CLOCK].astype(np.uint64) @ _MULTIPLES


class HeldOut:
    """A set of positions that records must not meet."""

    def __init__(self, boards: Iterable[chess.Board]) -> None:
        # A record's frame is that of its root's mover, so a state in it is seen by the side to move or by the other.
        seen = [board_row(board, colour) for board in boards for colour in chess.COLORS]
        rows = np.stack(seen) if seen else np.zeros((0, CLOCK + 1), np.uint8)
        mirrored = looking_glass(rows[rows[:, CASTLING] == 0])
        self.keys = np.unique(row_keys(np.concatenate([rows, mirrored])))

    def met(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which of the states [..., 68] are held out."""
        return np.isin(row_keys(rows), self.keys)

    def spared_by(self, records: Records) -> Records:
        """The records without those that meet a held-out position."""
        every = records.arrays["states"]
        parts = [self.met(every[start : start + _CHUNK]).any(axis=1) for start in range(0, len(every), _CHUNK)]
        return records.without(np.concatenate([np.zeros(0, bool), *parts]))


def boards_in(path: str) -> Iterator[chess.Board]:
    """The positions of a labelled set, a puzzle table (where the solver is to move) or a PGN file (all)."""
    found = False
    try:
        for entry in entries(path, own_plies=False):
            for board in _positions(entry.read(HeaderFilter())):
                found = True
                yield board
    except Broken as error:
        raise UserError(f"{path} has a game that cannot be read ({error}): mend it or leave it out") from None
    if not found:
        raise UserError(f"{path} holds no position: name a file that does, or leave it out")


def _positions(game: SourceGame) -> Iterator[chess.Board]:
    board = game.start.copy(stack=False)
    for ply, move in enumerate(game.moves):
        if ply in game.plies:
            yield board
        board.push(move)
