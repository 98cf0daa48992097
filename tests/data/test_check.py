from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data.check import check
from diffusearch.data.labelled import read_labelled
from diffusearch.data.labelling import Row
from diffusearch.data.shards import SCHEMA
from diffusearch.data.show import board_svg, board_text, phase, summarise


def silent(_: int) -> None:
    pass


def problems(path: Path) -> list[str]:
    return [str(problem) for problem in check(path, silent)]


@pytest.fixture
def rows(labelled: Path) -> list[Row]:
    return list(read_labelled(labelled))[:12]


def written(rows: list[Row], tmp_path: Path) -> Path:
    path = tmp_path / "set.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    return path


def test_the_committed_set_is_sound(labelled: Path) -> None:
    assert problems(labelled) == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"fen": "nonsense"}, "bad FEN"),
        ({"fen": "8/8/8/4k3/8/8/8/4K3 w - - 0 1"}, "the game is over"),
        ({"line": "a1a5 e2e4"}, "move 1 of the line"),
        ({"line": ""}, "no line"),
        ({"split": "dev"}, "unknown split"),
        ({"ended": True}, "`ended`"),
        ({"cp": 40_000, "values": None, "actions": None}, "out of range"),
        ({"cp": 10, "mate": 2}, "both cp and mate"),
        ({"values": "1 2 3 4 5"}, "more values than states"),
        ({"values": "9999"}, "not the root's score"),
        ({"values": "many"}, "unreadable"),
        ({"actions": "a1a1:10"}, "the scored action 'a1a1' is not legal"),
        ({"actions": "e2e4"}, "where a score belongs"),
    ],
)
def test_what_is_wrong_is_named(rows: list[Row], tmp_path: Path, changes: Row, complaint: str) -> None:
    assert problems(written(rows, tmp_path)) == []
    rows[1] = rows[1] | changes
    found = problems(written(rows, tmp_path))
    assert any(complaint in problem and "row 1:" in problem for problem in found), found


def test_doubled_positions_and_leaking_games_are_found(rows: list[Row], tmp_path: Path) -> None:
    other = "test" if rows[0]["split"] == "train" else "train"
    found = problems(written([*rows, rows[0] | {"split": other}], tmp_path))
    assert any("occurs twice" in problem for problem in found)
    assert any("in two splits" in problem for problem in found)


def test_unrelated_states_are_checked_one_by_one(rows: list[Row], tmp_path: Path) -> None:
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    first = rows[0]["line"].split()[0]
    row = rows[0] | {"line": f"{first} e2e4", "states": [start], "values": None, "ended": False}
    assert problems(written([row], tmp_path)) == []
    assert "move 2" in problems(written([row | {"line": f"{first} e2e5"}], tmp_path))[0]


def test_the_bytes_are_held_against_the_manifest(labelled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(labelled, folder)
    shard = folder / "shard-000001.parquet"
    pq.write_table(pq.read_table(shard).slice(1), shard)
    assert "not that of the manifest" in str(next(check(folder, silent)))  # files come before rows
    shard.rename(folder / "shard-000009.parquet")
    missing, unknown = islice(check(folder, silent), 2)
    assert str(missing) == "shard-000001.parquet: is in the manifest but not in the folder"
    assert str(unknown) == "shard-000009.parquet: is in the folder but not in the manifest"


def test_a_summary_counts_everything_once(labelled: Path) -> None:
    summary = summarise(labelled, examples=4)
    assert summary.records == sum(summary.splits.values()) == sum(summary.phases.values()) == 2360
    assert sum(summary.values.values()) == sum(summary.lengths.values()) == 2360
    assert summary.games == 300
    assert summary.duplicates == summary.failed == 0
    assert summary.with_actions == 2360
    assert len(summary.examples) == 4


def test_a_record_is_drawn(rows: list[Row]) -> None:
    text = board_text(rows[0])
    assert rows[0]["fen"] in text
    assert "oracle:" in text
    assert board_svg(rows[0]).startswith("<svg")


def test_phases() -> None:
    assert phase("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0) == "opening"
    assert phase("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 30) == "middlegame"
    assert phase("8/5k2/8/4r3/8/8/4K3/8 w - - 0 60", 118) == "endgame"
