"""Labelled test positions: a board, the oracle's line, and what is known about where it came from."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import pyarrow.parquet as parquet

from diffusearch.errors import UserError

COLUMNS = ("fen", "line")  # what a labelled file must have; `rating` and `action_cp` are used where they exist


@dataclass(frozen=True)
class Position:
    """One labelled state."""

    fen: str
    line: tuple[str, ...]  # the oracle's moves in UCI, the first is its action; never empty
    rating: int | None = None  # of the players, where the file knows it
    action_cp: dict[str, int] | None = None  # UCI -> centipawns for the mover, where every action was searched

    @property
    def action(self) -> str:
        """What the oracle plays."""
        return self.line[0]

    def board(self) -> chess.Board:
        """A fresh board."""
        return chess.Board(self.fen)


def labelled_files(path: Path) -> list[Path]:
    """The Parquet files behind a name: the file itself, or all of a folder in the order of their names."""
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise UserError(f"The folder {path} holds no .parquet file: give a labelled file or make one with `label`.")
        return files
    if not path.is_file():
        raise UserError(f"There is no labelled file at {path}: give a Parquet file or a folder of them with --data.")
    return [path]


def read_positions(files: list[Path], limit: int | None = None, seed: int | None = None) -> list[Position]:
    """The positions of labelled files: the first `limit`, or with a seed a random `limit` of all."""
    if limit is not None and limit < 1:
        raise UserError(f"--limit {limit} leaves nothing to measure: give a number of at least 1.")
    positions: list[Position] = []
    for position in _rows(files):
        positions.append(position)
        if limit is not None and seed is None and len(positions) == limit:
            break
    if not positions:
        raise UserError(f"{files[0]} holds no labelled position: label some games first.")
    if limit is not None and seed is not None and limit < len(positions):
        return random.Random(seed).sample(positions, limit)
    return positions


def _rows(files: list[Path]) -> Iterator[Position]:
    for path in files:
        try:
            file = parquet.ParquetFile(path)
        except (OSError, ValueError) as error:  # pyarrow's ArrowInvalid is a ValueError
            raise UserError(f"{path} is not a readable Parquet file ({error}): label it again.") from error
        names = file.schema_arrow.names
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise UserError(f"{path} has no column {missing[0]!r}: a labelled file needs {', '.join(COLUMNS)}.")
        wanted = [name for name in (*COLUMNS, "rating", "action_cp") if name in names]
        for batch in file.iter_batches(batch_size=4096, columns=wanted):
            for row in batch.to_pylist():
                if row["line"]:
                    yield _position(row)


def _position(row: dict[str, Any]) -> Position:
    values = row.get("action_cp")
    return Position(
        fen=row["fen"],
        line=tuple(row["line"].split()),
        rating=row.get("rating"),
        action_cp=dict(values) if values else None,
    )


def phase(board: chess.Board) -> str:
    """Opening, middlegame or endgame.

    Endgame: at most six pieces besides kings and pawns, both sides together. Opening: not an endgame, and at
    most ten full moves played. The rest is middlegame.
    """
    pieces = board.occupied & ~board.pawns & ~board.kings
    if chess.popcount(pieces) <= 6:
        return "endgame"
    return "opening" if board.fullmove_number <= 10 else "middlegame"
