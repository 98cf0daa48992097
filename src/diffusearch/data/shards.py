"""Shards on disk: Parquet files that are written completely or not at all.

The metadata of a shard contains the counts of its games and where in the source it ends. So a run that was killed can
continue from the shards alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from diffusearch.data.labelling import Row
from diffusearch.data.parquet_input import parquet_columns, read_parquet
from diffusearch.data.plan import ShardInfo
from diffusearch.errors import UserError
from diffusearch.files import write_whole

FORMAT = 1
_NAME = pa.dictionary(pa.int16(), pa.string())
SCHEMA = pa.schema(
    [
        ("fen", pa.string()),  # the root state
        ("line", pa.string()),  # UCI moves, the first is the oracle's action; shorter where the game or the source ends
        ("cp", pa.int32()),  # score of the root, side to move's view
        ("mate", pa.int16()),  # moves to mate, negative when being mated; one of the two is null, both if unsearched
        ("nodes", pa.int32()),  # spent on the root
        ("pool", _NAME),  # name of the source
        ("game", pa.int32()),  # index in the source
        ("ply", pa.int16()),  # half-moves before the root
        ("played", pa.string()),  # the move of the game
        ("split", _NAME),  # train, validation or test
        ("rating", pa.int16()),  # mean of the players, or of the puzzle
        ("future", _NAME),  # policy of the line
        ("ended", pa.bool_()),  # the game is over after the line
        ("values", pa.string()),  # scores of the line's states, see scores.py
        ("actions", pa.string()),  # scores of root moves, mover's view, the oracle's action first, see scores.py
        ("states", pa.list_(pa.string())),  # FENs of s_1.. where the moves do not lead there (random-world)
        ("failed", pa.string()),  # why there is no label
    ]
)


def write_shard(folder: Path, info: ShardInfo, rows: Sequence[Row]) -> None:
    """Write a shard. The same rows give the same bytes."""
    about = {"index": info.index, "entries_end": info.entries_end, "digest": info.digest, "counts": dict(info.counts)}
    schema = SCHEMA.with_metadata({"diffusearch": json.dumps({"format": FORMAT, **about}, sort_keys=True)})
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), sink, compression="zstd")
    write_whole(folder / info.file, sink.getvalue().to_pybytes())


def read_info(path: Path) -> ShardInfo:
    """The metadata of a shard that this program wrote."""
    try:
        about = json.loads((pq.read_schema(path).metadata or {})[b"diffusearch"])
        if about["format"] != FORMAT:
            raise UserError(
                f"{path} has shard format {about['format']}, this program writes {FORMAT}; use another --out"
            )
        return ShardInfo(about["index"], about["entries_end"], about["digest"], Counter(about["counts"]))
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise UserError(
            f"{path} is not a complete shard of this program; delete it and run the same command again"
        ) from error


def shard_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-*.parquet"))


def read_column(paths: Iterable[Path], column: str) -> Iterator[str | None]:
    """One text column of several files, file by file."""
    for path in paths:
        if column not in parquet_columns(path):
            raise UserError(f"{path} has no column {column}; give labelled sets")
        for batch in read_parquet(path, [column]):
            yield from batch[column].to_pylist()
