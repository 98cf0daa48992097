"""Rows of a measurement on disk: what a line says, going on after a kill, and files of something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.actions import action_accuracy
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles
from diffusearch.evaluation.row_log import RowLog, read_rows
from diffusearch.inference.imagination import Imagination


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_says_what_was_played_and_whether_it_is_right(
    labelled: Callable[..., Path], oracle: Any, tmp_path: Path
) -> None:
    positions = read_positions(labelled())
    oracle.answers[chess.Board(positions[3].fen).epd()] = "g1f1"
    log = RowLog(tmp_path / "rows" / "a.jsonl", "actions", oracle)
    figures = action_accuracy(oracle, positions, log=log)
    rows = lines(tmp_path / "rows" / "a.jsonl")
    assert [row["right"] for row in rows] == [True, True, True, False]
    assert [row["fen"] for row in rows] == [position.fen for position in positions]
    last = rows[3]
    assert (last["kind"], last["agent"], last["answer"], last["move"]) == ("actions", "table", "a1a8", "g1f1")
    assert (last["probability"], last["fixed_at"], last["evaluations"]) == (1.0, None, 0)
    assert figures["accuracy"] == 0.75


def test_a_killed_measurement_goes_on_behind_its_last_whole_row(
    labelled: Callable[..., Path], oracle: Any, tmp_path: Path
) -> None:
    positions = read_positions(labelled())
    path = tmp_path / "a.jsonl"
    whole = action_accuracy(oracle, positions, log=RowLog(path, "actions", oracle))
    first = path.read_text().splitlines(keepends=True)
    path.write_text("".join(first[:2]) + first[2][:20])  # killed in the middle of a line
    oracle.batches.clear()
    done: list[int] = []
    again = action_accuracy(oracle, positions, progress=done.append, log=RowLog(path, "actions", oracle))
    assert oracle.batches == [2]
    assert done == [2, 2]
    assert again["resumed"] == 2
    assert path.read_text() == "".join(first)
    for name in ("n", "accuracy", "by_phase", "legality"):
        assert again[name] == whole[name]


def test_two_measurements_into_one_file_do_not_double_its_rows(
    labelled: Callable[..., Path], oracle: Any, tmp_path: Path
) -> None:
    positions = read_positions(labelled())
    path = tmp_path / "a.jsonl"
    log = RowLog(path, "actions", oracle)
    ids = [position.fen for position in positions]
    assert log.done(ids) == []
    action_accuracy(oracle, positions, log=RowLog(path, "actions", oracle))  # the other program
    whole = path.read_text()
    _, rows = read_rows(path)
    with pytest.raises(UserError, match=f"another program writes to {path}"):
        log.append(rows[:1])
    assert path.read_text() == whole


def test_puzzles_go_on_too(puzzle_file: Callable[..., Path], oracle: Any, tmp_path: Path) -> None:
    puzzles = read_puzzles(puzzle_file())
    path = tmp_path / "p.jsonl"
    puzzle_accuracy(oracle, puzzles[:1], log=RowLog(path, "puzzles", oracle))
    figures = puzzle_accuracy(oracle, puzzles, log=RowLog(path, "puzzles", oracle))
    assert (figures["n"], figures["accuracy"], figures["resumed"]) == (2, 1.0, 1)
    rows = lines(path)
    assert [(row["id"], row["answer"], row["found"], row["mate_tolerant"]) for row in rows] == [
        ("two", "d1d8", 1, True),
        ("long", "a1a8", 2, True),
    ]


def test_a_file_of_another_agent_or_of_other_rows_is_refused(
    labelled: Callable[..., Path], oracle: Any, tmp_path: Path
) -> None:
    positions = read_positions(labelled())
    path = tmp_path / "a.jsonl"
    action_accuracy(oracle, positions[:2], log=RowLog(path, "actions", oracle))
    with pytest.raises(UserError, match=r"a\.jsonl holds other test rows"):
        action_accuracy(oracle, positions[1:], log=RowLog(path, "actions", oracle))
    with pytest.raises(UserError, match="another kind"):
        action_accuracy(oracle, positions, log=RowLog(path, "puzzles", oracle))
    oracle.runs = {"weights": "trained for longer"}
    with pytest.raises(UserError, match="another agent hash"):
        action_accuracy(oracle, positions, log=RowLog(path, "actions", oracle))
    oracle.name, oracle.runs = "other", {}
    with pytest.raises(UserError, match=r"another agent \(table, not other\)"):
        action_accuracy(oracle, positions, log=RowLog(path, "actions", oracle))


def test_damaged_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"kind": "actions"}\n')
    with pytest.raises(UserError, match="line 1 is no row"):
        read_rows(path)
    path.write_text("[]\n")
    with pytest.raises(UserError, match="line 1 is no row"):
        read_rows(path)


def test_the_step_that_fixed_the_move(labelled: Callable[..., Path], oracle: Any, tmp_path: Path) -> None:
    positions = read_positions(labelled())[:1]
    board = chess.Board(positions[0].fen)
    oracle.imaginations[board.epd()] = Imagination("", "", {}, (), raw_legal=True, legal_mass=0.9, move_step=7)
    action_accuracy(oracle, positions, log=RowLog(tmp_path / "a.jsonl", "actions", oracle))
    (row,) = lines(tmp_path / "a.jsonl")
    assert (row["fixed_at"], row["raw_legal"], row["legal_mass"]) == (7, True, 0.9)
