"""Parquet from strangers: a few kB that stand for gigabytes are refused by name, damage is a sentence."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data import parquet_input
from diffusearch.data.parquet_input import parquet_columns, read_parquet
from diffusearch.errors import UserError


def test_texts_and_numbers_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {"text": ["x", None, "y"] * 5000, "number": pa.array([1, 2, None] * 5000, pa.int16()), "z": [1.0] * 15000}
    )
    pq.write_table(table, path)
    batches = list(read_parquet(path, ["number", "text"]))
    assert [batch.num_rows for batch in batches] == [8192, 15000 - 8192]
    assert pa.Table.from_batches(batches).select(["text", "number"]) == table.select(["text", "number"])
    assert parquet_columns(path) == ["text", "number", "z"]


def test_one_long_text_for_every_row_is_refused(tmp_path: Path) -> None:
    """A hundred kB of file, 8 GB of text in the first batch."""
    path = tmp_path / "bomb.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 8192, pa.int32()), ["a" * (1 << 20)])
    pq.write_table(pa.table({"fen": text}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with pytest.raises(UserError, match=r"bomb\.parquet has a text of 1048576 bytes in the column fen"):
        next(read_parquet(path, ["fen"]))
    assert pa.default_memory_pool().max_memory() - before < 1 << 30


def test_a_huge_column_chunk_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path)
    monkeypatch.setattr(parquet_input, "CHUNK_BYTES", 1000)
    with pytest.raises(UserError, match=r"wide\.parquet has \d+ bytes of a in one row group"):
        next(read_parquet(path, ["a"]))


def test_damage_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cut.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:1000] + b"\0" * 2000 + whole[3000:])
    with pytest.raises(UserError, match=r"cut\.parquet cannot be read as Parquet"):
        list(read_parquet(path, ["a"]))
    path.write_bytes(b"PAR1 no")
    with pytest.raises(UserError, match=r"cut\.parquet cannot be read as Parquet"):
        parquet_columns(path)
