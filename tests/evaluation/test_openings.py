from __future__ import annotations

from pathlib import Path

import chess
import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.openings import book_text, make_openings, read_book


def material(board: chess.Board) -> float:
    """A judge that only counts pieces: level means equally many."""
    white, black = (chess.popcount(board.occupied_co[color]) for color in (True, False))
    return 0.5 + 0.1 * (white - black) * (1 if board.turn else -1)


def test_a_seed_gives_the_same_level_book() -> None:
    book = make_openings(20, seed=4, judge=material, plies=8)
    assert book == make_openings(20, seed=4, judge=material, plies=8)
    assert book != make_openings(20, seed=5, judge=material, plies=8)
    ends = set()
    for opening in book:
        assert len(opening) == 8
        board = chess.Board()
        for move in opening:
            board.push_uci(move)
        assert material(board) == 0.5
        ends.add(board.epd())
    assert len(ends) == 20


def test_a_judge_that_is_never_content_is_an_error() -> None:
    with pytest.raises(UserError, match="Only 0 of 1 openings"):
        make_openings(1, seed=0, judge=lambda board: 0.9, plies=1, tries=100)


def test_book_files_round_trip_and_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    book = [("e2e4", "e7e5"), ("d2d4", "d7d5")]
    path.write_text(book_text(book, ["made by hand"]))
    assert path.read_text().startswith("# made by hand\n")
    assert read_book(path) == book
    for text, message in (
        ("e2e5\n", "line 1: illegal"),
        ("f2f3 e7e5 g2g4 d8h4\n", "ends the game"),
        ("g1f3 g8f6 b1c3\nb1c3 g8f6 g1f3\n", "same position as in line 1"),
        ("# nothing\n", "holds no opening"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=message):
            read_book(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_book(tmp_path / "absent")


def test_the_packages_book_is_whole() -> None:
    assert len(read_book()) == 500
