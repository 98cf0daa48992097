"""Held-out positions: training leaves out every record that has one of them as its root or in its future.

A split by game is not enough: games share openings, and an oracle's line may reach any position. Two positions are
equal if board, castling rights, en passant square and side to move are equal, whatever the clocks, also with the
colours exchanged or with the files mirrored (`data.mirror` mirrors records in training).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.pgn import Broken
from diffusearch.data.records import Records
from diffusearch.data.source_games import SourceGame, entries
from diffusearch.errors import UserError
from diffusearch.tokens.states import CASTLING, CLOCK, Rows, board_row, looking_glass

Keys = npt.NDArray[np.uint64]

_CHUNK = 65536  # records of a step of the filter
# A row's key is a sum of fixed random multiples of its numbers, modulo 2^64: one product for a whole array of rows.
_MULTIPLES = np.random.default_rng(0).integers(1, 2**63, CLOCK, dtype=np.uint64) * 2 + 1


def row_keys(rows: Rows) -> Keys:
    """Keys [...] of rows [..., 68]: equal for equal positions in the same frame, whatever their clocks."""
    return rows[..., :CLOCK].astype(np.uint64) @ _MULTIPLES


class HeldOut:
    """A set of positions that no training record may have."""

    def __init__(self, boards: Iterable[chess.Board]) -> None:
        # A record is in the frame of its root's mover, so its states are in the frame of either side.
        seen = [board_row(board, colour) for board in boards for colour in chess.COLORS]
        rows = np.stack(seen) if seen else np.zeros((0, CLOCK + 1), np.uint8)
        mirrored = looking_glass(rows[rows[:, CASTLING] == 0])
        self.keys = np.unique(row_keys(np.concatenate([rows, mirrored])))

    def met(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which of the states [..., 68] are held out."""
        return np.isin(row_keys(rows), self.keys)

    def spared_by(self, records: Records) -> Records:
        """The records without those that have a held-out position."""
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
        raise UserError(f"{path} has a game that cannot be read ({error}): correct it or leave it out") from None
    if not found:
        raise UserError(f"{path} has no position: give another file or leave it out")


def _positions(game: SourceGame) -> Iterator[chess.Board]:
    board = game.start.copy(stack=False)
    for ply, move in enumerate(game.moves):
        if ply in game.plies:
            yield board
        board.push(move)
