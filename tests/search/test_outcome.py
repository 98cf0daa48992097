"""When a game is over."""

from __future__ import annotations

from collections.abc import Callable

import chess
import pytest

from diffusearch.search.outcome import Outcome, outcome, value_after

SHUFFLE = "g1f3 g8f6 f3g1 f6g8 "


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 1 1", Outcome.MATED),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Outcome.DRAWN),  # stalemate
        ("8/8/4k3/8/8/3K4/8/8 w - - 0 1", Outcome.DRAWN),  # bare kings
        ("8/8/4k3/8/8/3K1B2/8/8 w - - 0 1", Outcome.DRAWN),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 90", None),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 100 90", Outcome.DRAWN),
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 100 90", Outcome.MATED),  # mate comes before the clock
        (chess.STARTING_FEN, None),
    ],
)
def test_by_the_position(fen: str, expected: Outcome | None) -> None:
    assert outcome(chess.Board(fen)) is expected


def test_the_third_occurrence_is_drawn_and_needs_history(played: Callable[[str, str], chess.Board]) -> None:
    assert outcome(played(chess.STARTING_FEN, SHUFFLE)) is None
    third = played(chess.STARTING_FEN, SHUFFLE * 2)
    assert outcome(third) is Outcome.DRAWN
    assert outcome(chess.Board(third.fen())) is None


def test_without_claims_only_forced_draws_count(played: Callable[[str, str], chess.Board]) -> None:
    assert outcome(played(chess.STARTING_FEN, SHUFFLE * 2), claims=False) is None
    assert outcome(played(chess.STARTING_FEN, SHUFFLE * 4), claims=False) is Outcome.DRAWN
    assert outcome(chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 149 90"), claims=False) is None
    assert outcome(chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 150 90"), claims=False) is Outcome.DRAWN


@pytest.mark.parametrize(
    ("fen", "uci", "value"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", 1.0),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", 0.5),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 90", "a1a2", 0.5),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 98 90", "a1a2", None),
    ],
)
def test_the_movers_value_of_a_move_that_ends_the_game(fen: str, uci: str, value: float | None) -> None:
    for board, move in (
        (chess.Board(fen), uci),
        (chess.Board(fen).mirror(), uci.translate(str.maketrans("12345678", "87654321"))),
    ):
        before = board.fen()
        assert value_after(board, chess.Move.from_uci(move)) == value
        assert (board.fen(), board.move_stack) == (before, [])
