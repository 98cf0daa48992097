"""tools/overlap.py: which test positions training has met, and the rest of the file to measure on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chess
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data.records import Line, write_records

ROOT = Path(__file__).parents[1]
SHARD = ROOT / "tests" / "fixtures" / "labelled" / "shard-000000.parquet"


def overlap(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "tools" / "overlap.py", *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    return [row for row in pq.read_table(SHARD).slice(0, 40).to_pylist() if row["line"]]


def test_met_positions_are_counted_and_left_out(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    first = [Line(row["fen"], row["line"].split()) for row in rows[:7]]
    # the same positions with colours exchanged, and one of them twice
    second = [Line(chess.Board(row["fen"]).mirror().fen(), []) for row in rows[6:10]]
    write_records(first, tmp_path / "first", 2)
    write_records(second, tmp_path / "second", 2)
    table = pq.read_table(SHARD)
    pq.write_table(table.filter([bool(line) for line in table["line"].to_pylist()]), tmp_path / "test.parquet")
    files = ("--records", tmp_path / "first", tmp_path / "second", "--actions", tmp_path / "test.parquet")
    done = overlap(*files, "--limit", "20", "--unmet", tmp_path / "unmet.parquet")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()[:3]]
    assert [line["actions"] for line in told] == [{"positions": 20, "met": met} for met in (7, 4, 10)]
    assert pq.read_table(tmp_path / "unmet.parquet")["fen"].to_pylist() == [row["fen"] for row in rows[10:20]]


def test_rows_that_are_not_measured_do_not_shift_the_others(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    """A row without a line is no test position; the met one behind it is still the one that is left out."""
    write_records([Line(rows[1]["fen"], rows[1]["line"].split())], tmp_path / "records", 1)
    table = pq.read_table(SHARD)
    table = table.filter([fen in [row["fen"] for row in rows[:5]] for fen in table["fen"].to_pylist()])
    lines = ["", *table["line"].to_pylist()[1:]]
    pq.write_table(
        table.set_column(table.schema.get_field_index("line"), "line", pa.array(lines)), tmp_path / "t.parquet"
    )
    words = ("--records", tmp_path / "records", "--actions", tmp_path / "t.parquet", "--unmet", tmp_path / "u.parquet")
    done = overlap(*words)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "u.parquet")["fen"].to_pylist() == [row["fen"] for row in rows[2:5]]


def test_unmet_rows_need_a_file_to_come_from(tmp_path: Path) -> None:
    done = overlap("--records", tmp_path, "--puzzles", "x.csv", "--unmet", tmp_path / "unmet.parquet")
    assert done.returncode == 2
    assert "--actions" in done.stderr
