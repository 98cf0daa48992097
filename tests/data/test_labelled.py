from __future__ import annotations

from pathlib import Path

import chess
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data.labelled import read_batches, read_labelled
from diffusearch.data.root_positions import split_of
from diffusearch.data.shards import SCHEMA
from diffusearch.errors import UserError

# The columns that any labelled Parquet has, as other programs write them.
PLAIN = {
    "fen": [chess.STARTING_FEN, "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"],
    "line": ["e2e4 e7e5", "a1a8"],
    "cp": pa.array([30, None], pa.int32()),
    "mate": pa.array([None, 1], pa.int16()),
    "nodes": pa.array([8000, 20], pa.int32()),
    "pool": pa.array(["human", "human"]).dictionary_encode(),
    "game": pa.array([3, 9], pa.int32()),
    "ply": pa.array([0, 40], pa.int16()),
    "played": ["d2d4", "a1a2"],
}


def plain(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "plain.parquet"
    columns = {name: value for name, value in {**PLAIN, **changes}.items() if value is not None}
    pq.write_table(pa.table(columns), path)
    return path


def test_the_committed_set_is_read_in_order(labelled: Path) -> None:
    rows = list(read_labelled(labelled))
    assert len(rows) == 2360
    assert [row["game"] for row in rows] == sorted(row["game"] for row in rows)
    assert {row["split"] for row in rows} == {"train", "validation", "test"}


def test_splits_are_parts_of_the_whole_by_game(labelled: Path) -> None:
    games = {
        split: {row["game"] for row in read_labelled(labelled, split)} for split in ("train", "validation", "test")
    }
    assert sum(map(len, games.values())) == len(set.union(*games.values())) == 300


def test_a_plain_parquet_file_is_completed(tmp_path: Path) -> None:
    first, second = read_labelled(plain(tmp_path))
    assert set(first) == set(SCHEMA.names)
    assert (first["cp"], first["mate"], first["pool"], first["ended"]) == (30, None, "human", False)
    assert (second["cp"], second["mate"], second["ended"]) == (None, 1, True)
    assert first["split"] == split_of("human:3")
    assert first["actions"] is None


def test_batches_have_one_schema(tmp_path: Path, labelled: Path) -> None:
    for path in (plain(tmp_path), labelled):
        assert all(batch.schema == SCHEMA for batch in read_batches(path))


def test_failed_positions_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = plain(tmp_path, failed=["hung", None], line=["", "a1a8"])
    assert [row["game"] for row in read_labelled(path)] == [9]
    assert [row["failed"] for row in read_labelled(path, failed=True)] == ["hung", None]


def test_what_cannot_be_read_is_the_users_error(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(UserError, match="no labelled positions"):
            list(read_labelled(path))
    (tmp_path / "puzzles.csv.zst").write_bytes(b"")
    with pytest.raises(UserError, match=r"diffusearch label .*puzzles\.csv\.zst --out"):
        list(read_labelled(tmp_path / "puzzles.csv.zst"))
    with pytest.raises(UserError, match="lacks the columns cp"):
        list(read_labelled(plain(tmp_path, cp=None)))
    with pytest.raises(UserError, match="unknown split"):
        list(read_labelled(plain(tmp_path), "dev"))
    (tmp_path / "plain.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match="cannot be read as Parquet"):
        list(read_labelled(tmp_path / "plain.parquet"))
