"""From the labelled set of a recipe to records: replayed once, kept, made anew when the labels change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import chess
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.errors import UserError
from diffusearch.training.recipe import recipe_from_dict
from diffusearch.training.sources import lines_of, open_sources, records_of

LABELLED = Path(__file__).parents[1] / "fixtures" / "labelled"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    shutil.copytree(LABELLED, tmp_path / "labelled", ignore=shutil.ignore_patterns("records-*"))
    return tmp_path / "labelled"


def test_replayed_once_and_anew_when_the_labels_change(labelled: Path, tmp_path: Path) -> None:
    said: list[str] = []
    cache = str(tmp_path / "cache")
    first = records_of(labelled, 2, "train", cache, False, said.append)
    assert len(first) > 100
    assert first.horizon == 2
    count = len(said)
    again = records_of(labelled, 2, "train", cache, False, said.append)
    assert again.folder == first.folder
    assert len(said) == count  # nothing to do
    shard = next(labelled.glob("*.parquet"))
    os.utime(shard, ns=(1, 1))
    records_of(labelled, 2, "train", cache, False, said.append)
    assert len(said) > count


def test_splits_are_apart(labelled: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    parts = {
        split: records_of(labelled, 1, split, cache, False, lambda line: None) for split in ("train", "validation")
    }
    seen = [
        {
            row.tobytes() + bytes([int(black)])
            for row, black in zip(part.arrays["states"], part.arrays["black"], strict=True)
        }
        for part in parts.values()
    ]
    assert len(seen[0] & seen[1]) < 0.05 * len(seen[1])  # only what several games share: the first moves


def test_values_of_actions_are_one_record_each(labelled: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    plain = records_of(labelled, 1, "validation", cache, False, lambda line: None)
    actions = records_of(labelled, 1, "validation", cache, True, lambda line: None)
    assert len(actions) > 5 * len(plain)
    assert int(actions.arrays["values"].max()) < 128  # every one has its value


def test_a_recipes_sources(labelled: Path, tmp_path: Path) -> None:
    data = {"sources": [{"path": str(labelled)}], "cache": str(tmp_path / "cache")}
    records, validation = open_sources(recipe_from_dict({"model": {"horizon": 2}, "data": data}), lambda line: None)
    assert len(records) == 1
    assert validation is not None
    assert len(validation) < len(records[0])
    ready = {"sources": [{"path": str(records[0].folder)}], "validation": str(records[0].folder)}
    with pytest.raises(UserError, match="horizon 2, the model needs 4"):
        open_sources(recipe_from_dict({"data": ready}), lambda line: None)
    with pytest.raises(UserError, match="names no data"):
        open_sources(recipe_from_dict({}), lambda line: None)
    with pytest.raises(UserError, match=r"no labels at .*nowhere.*diffusearch label"):
        open_sources(recipe_from_dict({"data": {"sources": [{"path": str(tmp_path / "nowhere")}]}}), lambda line: None)


def test_later_plies_of_a_line_are_records_of_their_own(labelled: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    whole, later = (list(lines_of(labelled, "train", False, ply)) for ply in (0, 1))
    lasting = [line for line in whole if len(line.moves) > 1]
    assert len(later) == len(lasting) > 100
    for line, rest in zip(lasting[:20], later, strict=False):
        board = chess.Board(line.fen)
        board.push_uci(line.moves[0])
        assert rest.fen == board.fen()
        assert list(rest.moves) == list(line.moves[1:])
        assert list(rest.values) == list(line.values[1:])
    records = records_of(labelled, 2, "train", cache, False, lambda line: None, 1)
    assert len(records) == len(later)
    assert records.folder != records_of(labelled, 2, "train", cache, False, lambda line: None).folder
    with pytest.raises(UserError, match=r"holds records, not games .* with ply = 1"):
        records_of(records.folder, 2, "train", cache, False, lambda line: None, 1)
    with pytest.raises(UserError, match="only ply 0"):
        records_of(labelled, 2, "train", cache, True, lambda line: None, 1)


@pytest.mark.slow
def test_a_file_for_validation_is_used_whole(labelled: Path, tmp_path: Path) -> None:
    """Not only its rows of the validation split."""
    other = Path(shutil.copytree(labelled, tmp_path / "other"))
    said: list[str] = []
    sources = [{"path": str(labelled)}]
    for path in (other, next(other.glob("*.parquet")), labelled):
        data = {"sources": sources, "validation": str(path), "cache": str(tmp_path / "cache")}
        recipe = recipe_from_dict({"model": {"horizon": 1}, "data": data})
        validation = open_sources(recipe, said.append)[1]
        assert validation is not None
        whole, split = (sum(1 for _ in lines_of(path, rows, False)) for rows in (None, "validation"))
        assert len(validation) == whole > 2 * split > 0
        assert any("trained on too" in line for line in said) == (path == labelled)
    data = {"sources": sources, "cache": str(tmp_path / "cache")}
    validation = open_sources(recipe_from_dict({"model": {"horizon": 1}, "data": data}), said.append)[1]
    assert validation is not None
    assert len(validation) == sum(1 for _ in lines_of(labelled, "validation", False))


def test_records_without_a_split_are_no_validation(labelled: Path, tmp_path: Path) -> None:
    ready = records_of(labelled, 1, "train", str(tmp_path / "cache"), False, lambda line: None).folder
    config = {"model": {"paradigm": "s-a", "horizon": 1}, "data": {"sources": [{"path": str(ready)}]}}
    assert open_sources(recipe_from_dict(config), lambda line: None)[1] is None


@pytest.mark.slow
def test_two_trainings_at_once_replay_once(labelled: Path, tmp_path: Path) -> None:
    """The second waits for the first and finds its records."""
    program = (
        "import sys; from pathlib import Path; from diffusearch.training.sources import records_of\n"
        "print(len(records_of(Path(sys.argv[1]), 2, 'train', sys.argv[2], False, print)))"
    )
    words = [sys.executable, "-c", program, str(labelled), str(tmp_path / "cache")]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("replaying" in words for words in told) == 1
    assert told[0][-1] == told[1][-1]


def test_lines_that_cannot_be_played_are_named(tmp_path: Path) -> None:
    table = {"fen": [chess.STARTING_FEN], "line": ["e2e4 e2e4 d2d4"], "cp": [0], "mate": pa.nulls(1, pa.int16())}
    table |= {"nodes": [1], "pool": ["p"], "game": [0], "ply": [0], "played": ["e2e4"], "split": ["train"]}
    pq.write_table(pa.table(table), tmp_path / "bad.parquet")
    for ply in (0, 2):
        with pytest.raises(UserError, match=r"e2e4 e2e4 d2d4.*is not legal.*data check"):
            records_of(tmp_path / "bad.parquet", 4, "train", str(tmp_path / "cache"), False, lambda line: None, ply)
