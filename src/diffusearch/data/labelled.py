"""Reads labelled positions: a folder that `diffusearch label` wrote, or any Parquet file with its first columns.

The columns fen, line, cp, mate, nodes, pool, game, ply and played are required. A column that the file lacks is filled
in, so that all rows have the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chess
import pyarrow as pa
import pyarrow.compute as pc

from diffusearch.data.labelling import Row
from diffusearch.data.parquet_input import parquet_columns, read_parquet
from diffusearch.data.root_positions import SPLITS, over, split_of
from diffusearch.data.shards import SCHEMA
from diffusearch.data.streams import bare_name
from diffusearch.errors import UserError

NEEDED = ("fen", "line", "cp", "mate", "nodes", "pool", "game", "ply", "played")
SCORED = 64  # scored actions that a record keeps at most, the best ones


def labelled_files(path: str | Path) -> list[Path]:
    """The Parquet files of a labelled set: the file itself, or all files of a folder."""
    path = Path(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise UserError(
            f"no labelled positions at {path}; give a Parquet file or a folder that `diffusearch label` made"
        )
    if Path(bare_name(str(path))).suffix in (".csv", ".pgn"):
        raise UserError(f"{path} has no labels yet: run `diffusearch label {path} --out FOLDER` first")
    return files


def read_batches(path: str | Path, split: str | None = None, failed: bool = False) -> Iterator[pa.RecordBatch]:
    """Batches with the columns of shards.SCHEMA, in file order.

    Positions that the oracle failed on are left out unless `failed` is true. A file without the column `split` is split
    by a hash of pool and game. In a file without `ended` the board after the line decides.
    """
    if split is not None and split not in SPLITS:
        raise UserError(f"unknown split {split!r}; choose among {', '.join(SPLITS)}")
    for file in labelled_files(path):
        held = parquet_columns(file)
        missing = [column for column in NEEDED if column not in held]
        if missing:
            raise UserError(
                f"{file} lacks the columns {', '.join(missing)}; labelled positions need {', '.join(NEEDED)}"
            )
        for raw in read_parquet(file, [name for name in SCHEMA.names if name in held]):
            try:
                batch = _complete(raw)
            except pa.ArrowException as error:
                raise UserError(f"{file} cannot be read ({error}); write the columns of docs/data.md") from error
            if not failed:
                batch = batch.filter(pc.is_null(batch["failed"]))
            if split is not None:
                batch = batch.filter(pc.equal(batch["split"].cast(pa.string()), split))
            if batch.num_rows:
                yield batch


def read_labelled(path: str | Path, split: str | None = None, failed: bool = False) -> Iterator[Row]:
    """The same as one dict for each record: column -> value or None."""
    for batch in read_batches(path, split, failed):
        yield from batch.to_pylist()


def games_of(path: str | Path) -> set[tuple[str, int]]:
    """The games of a labelled set, each by its pool and its number there."""
    found: set[tuple[str, int]] = set()
    for file in labelled_files(path):
        for batch in read_parquet(file, ["pool", "game"]):
            found |= set(zip(batch["pool"].to_pylist(), batch["game"].to_pylist(), strict=True))
    return found


def scored_moves(path: str | Path) -> int:
    """How many moves the longest list of scored actions of a set has, SCORED at most; 0 where no action is scored."""
    most = 0
    for file in labelled_files(path):
        if "actions" in parquet_columns(file):
            for batch in read_parquet(file, ["actions"]):
                most = max(most, pc.max(pc.count_substring(batch["actions"].cast(pa.string()), ":")).as_py() or 0)
    return min(most, SCORED)


def _complete(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with all columns of the schema."""
    held = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns = []
    for field in SCHEMA:
        if field.name in held:
            column = held[field.name].cast(field.type)
            if field.name in ("fen", "line"):
                column = pc.fill_null(column, "")  # an empty position or line is checked for where rows are used
            elif field.name in ("pool", "game", "ply") and column.null_count:
                raise pa.ArrowInvalid(f"a row has no {field.name}")
        elif field.name == "split":
            keys = zip(held["pool"].to_pylist(), held["game"].to_pylist(), strict=True)
            column = pa.array([split_of(f"{pool}:{game}") for pool, game in keys]).cast(field.type)
        elif field.name == "ended":
            pairs = zip(held["fen"].to_pylist(), held["line"].to_pylist(), strict=True)
            column = pa.array([_ended(fen, line) for fen, line in pairs], field.type)
        else:
            column = pa.nulls(batch.num_rows, field.type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _ended(fen: str, line: str | None) -> bool:
    """Whether the game is over after the line; False where the line is not legal."""
    try:
        board = chess.Board(fen)
        for move in (line or "").split():
            board.push_uci(move)
    except ValueError:
        return False
    return over(board)
