"""Shards on disk: Parquet files, written whole or not at all, that carry what went into them.

Each shard's metadata has the counts of the games it covers and where in the source it ends, so a folder of shards
is enough to continue from, whenever the run was killed.
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
        ("ended", pa.bool_()),  # the line stops because the game is over
        ("values", pa.string()),  # scores of the line's states, see scores.py
        ("actions", pa.string()),  # score of every legal action, mover's view, best first
        ("states", pa.list_(pa.string())),  # FENs of s_1.. where the moves do not lead there (random-world)
        ("failed", pa.string()),  # why there is no label
    ]
)


def write_shard(folder: Path, info: ShardInfo, rows: Sequence[Row]) -> None:
    """The same rows give the same bytes."""
    about = {"index": info.index, "entries_end": info.entries_end, "digest": info.digest, "counts": dict(info.counts)}
    schema = SCHEMA.with_metadata({"diffusearch": json.dumps({"format": FORMAT, **about}, sort_keys=True)})
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), sink, compression="zstd")
    write_whole(folder / info.file, sink.getvalue().to_pybytes())


def read_info(path: Path) -> ShardInfo:
    """What a shard of this program covers."""
    try:
        about = json.loads((pq.read_schema(path).metadata or {})[b"diffusearch"])
        if about["format"] != FORMAT:
            raise UserError(
                f"{path} has shard format {about['format']}, this program writes {FORMAT}; use another --out"
            )
        return ShardInfo(about["index"], about["entries_end"], about["digest"], Counter(about["counts"]))
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise UserError(
            f"{path} is not a whole shard of this program; delete it and run the same command again"
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
