from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard

from diffusearch.data.streams import LINE_BYTES
from diffusearch.errors import UserError
from diffusearch.evaluation.puzzle_rating import puzzle_rating
from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles, solve


@pytest.mark.parametrize("name", ["p.csv", "p.csv.zst"])
def test_reading_plain_and_compressed(puzzle_file: Callable[..., Path], name: str) -> None:
    puzzles = read_puzzles(puzzle_file(name=name))
    assert [puzzle.id for puzzle in puzzles] == ["two", "long"]
    assert puzzles[0].themes == ("mateIn1", "short")
    assert read_puzzles(puzzle_file(name=name), limit=1) == puzzles[:1]


def test_the_setup_move_is_played_first_and_stays_on_the_stack(puzzle_file: Callable[..., Path], oracle: Any) -> None:
    puzzles = read_puzzles(puzzle_file())
    board = puzzles[0].board()
    assert board.peek().uci() == "e7a7"
    assert board.turn  # White solves
    solve(oracle, puzzles)
    assert oracle.stacks == [1, 1, 3]


def test_the_oracle_solves_all_one_round_a_batch(puzzle_file: Callable[..., Path], oracle: Any) -> None:
    figures = puzzle_accuracy(oracle, read_puzzles(puzzle_file()))
    assert (figures["n"], figures["accuracy"], figures["accuracy_mate_tolerant"]) == (2, 1.0, 1.0)
    assert oracle.batches == [2, 1]
    assert figures["by_rating"]["0600-0799"]["n"] == 1
    assert figures["by_theme"]["crushing"]["accuracy"] == 1.0
    assert figures["rating"]["estimate"] is None  # all solved: no upper end
    assert figures["rating"]["interval"][1] is None


def test_another_mate_counts_only_for_the_tolerant_score(puzzle_file: Callable[..., Path], oracle: Any) -> None:
    puzzles = read_puzzles(puzzle_file())
    oracle.answers[puzzles[0].board().epd()] = "b1b8"
    figures = puzzle_accuracy(oracle, puzzles)
    assert figures["accuracy"] == 0.5
    assert figures["accuracy_mate_tolerant"] == 1.0
    assert figures["by_theme"]["mateIn1"] | {"interval": None} == {
        "n": 1,
        "accuracy": 0.0,
        "interval": None,
        "accuracy_mate_tolerant": 1.0,
    }


@pytest.mark.parametrize("move", ["e4e5", "d1d8"])
def test_an_illegal_move_without_the_mask_solves_nothing(
    puzzle_file: Callable[..., Path], table: Any, move: str
) -> None:
    setup = {"FEN": "6k1/4rppp/8/8/8/3P4/8/1R1R2K1 b - - 0 1", "Moves": "e7a7 b1b8"}  # d1d8 jumps over the own pawn
    puzzle = {"PuzzleId": "jump", "Rating": "600", "Themes": "mateIn1", **setup}
    puzzles = read_puzzles(puzzle_file([puzzle]))
    agent = table({puzzles[0].board().epd(): move})
    agent.decoding = SimpleNamespace(legal=False)
    row = solve(agent, puzzles)[0]
    assert (row.move, row.right, row.mate_tolerant, row.found) == (move, False, False, 0)


def test_the_whole_solution_is_needed(puzzle_file: Callable[..., Path], oracle: Any) -> None:
    puzzles = read_puzzles(puzzle_file())[1:]
    board = puzzles[0].board()
    for move in puzzles[0].moves[1:3]:
        board.push_uci(move)
    oracle.answers[board.epd()] = "g1f1"  # right first move, wrong second
    outcome = solve(oracle, puzzles)[0]
    assert (outcome.right, outcome.mate_tolerant, outcome.found) == (False, False, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Moves": "e7a7"}, "1 moves"),
        ({"Moves": "e7e8 d1d9"}, "line 2"),
        ({"Moves": "a1a2 d1d8"}, "illegal uci"),
        ({"FEN": "nonsense"}, "line 2"),
        ({"Rating": "high"}, "line 2"),
    ],
)
def test_a_bad_row_is_named(
    puzzle_file: Callable[..., Path], puzzle_rows: list[dict[str, str]], change: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_puzzles(puzzle_file([{**puzzle_rows[0], **change}]))


def test_bad_files_are_named(tmp_path: Path, puzzle_file: Callable[..., Path]) -> None:
    with pytest.raises(UserError, match="no puzzle file"):
        read_puzzles(tmp_path / "absent.csv")
    with pytest.raises(UserError, match="lacks the columns FEN, Moves, Rating, Themes"):
        read_puzzles(puzzle_file([{"PuzzleId": "x"}]))
    broken = tmp_path / "broken.csv.zst"
    broken.write_bytes(b"PuzzleId,FEN")  # no archive, whatever its name says
    with pytest.raises(UserError, match="lacks the columns Moves, Rating, Themes"):
        read_puzzles(broken)
    packed = zstandard.compress(puzzle_file(name="plain.csv").read_bytes())
    broken.write_bytes(packed[: len(packed) * 3 // 4])
    with pytest.raises(UserError, match="not a readable puzzle file"):
        read_puzzles(broken)


def test_a_row_is_bounded_over_its_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text('PuzzleId,FEN,Moves,Rating,Themes\n1,"\n' + '","\n' * (LINE_BYTES // 4 + 1))
    with pytest.raises(UserError, match=r"long\.csv has a row of more than"):
        read_puzzles(path)


def test_a_bad_row_behind_a_line_break_is_counted_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "break.csv"
    good = "6k1/4rppp/8/8/8/8/8/1R1R2K1 b - - 0 1,e7a7 d1d8,600"
    path.write_text(f'PuzzleId,FEN,Moves,Rating,Themes\n1,{good},"short\nmate"\n2,nonsense,,,\n')
    with pytest.raises(UserError, match=r"break\.csv, line 4: "):
        read_puzzles(path)


def test_rating_of_half_solved_equal_puzzles_is_their_rating() -> None:
    rating = puzzle_rating([1500] * 100, [True, False] * 50)
    assert rating is not None
    assert rating["estimate"] == pytest.approx(1500, abs=0.1)
    # by hand: 2 * (log L(max) - log L(x)) = 3.8415 with 50 wins of 100 gives log-odds 0.3958 = 68.8 Elo
    low, high = rating["interval"]
    assert high - 1500 == pytest.approx(1500 - low, abs=0.1)
    odds = (high - 1500) * math.log(10) / 400
    assert 200 * (math.log((1 + math.exp(odds)) / 2) - odds / 2) == pytest.approx(3.8415, abs=0.01)


def test_rating_of_a_simulated_solver_is_found() -> None:
    dice = random.Random(3)
    ratings = [dice.randint(400, 2800) for _ in range(4000)]
    solved = [dice.random() < 1 / (1 + 10 ** ((rating - 1300) / 400)) for rating in ratings]
    rating = puzzle_rating(ratings, solved)
    assert rating is not None
    low, high = rating["interval"]
    assert low < 1300 < high
    assert high - low < 50


def test_nothing_solved_bounds_the_rating_from_above_only() -> None:
    rating = puzzle_rating([1000] * 20, [False] * 20)
    assert rating is not None
    assert rating["estimate"] is None
    low, high = rating["interval"]
    assert low is None
    assert high < 700
    assert puzzle_rating([], []) is None
