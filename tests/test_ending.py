"""What ends a game, and how the log of a tournament and the page say it."""

from __future__ import annotations

import chess
import pytest

from diffusearch.ending import Ending, ending
from diffusearch.play.pasted_games import result_of

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def shuffled(times: int, clock: int = 0) -> chess.Board:
    """The start position after knights went out and back so often."""
    board = chess.Board()
    board.halfmove_clock = clock
    for uci in SHUFFLE * times:
        board.push_uci(uci)
    return board


@pytest.mark.parametrize(
    ("fen", "found"),
    [
        ("R5k1/5ppp/8/8/8/8/8/6K1 b - - 150 90", Ending.CHECKMATE),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 100 90", Ending.STALEMATE),
        ("k7/2K5/8/1B6/8/8/8/8 b - - 0 1", Ending.DEAD),
        ("k7/1B6/1K6/8/8/8/8/8 b - - 150 90", Ending.DEAD),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 90", None),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 100 90", Ending.FIFTY),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 150 90", Ending.SEVENTY_FIVE),
        (chess.STARTING_FEN, None),
    ],
)
def test_by_the_position(fen: str, found: Ending | None) -> None:
    assert ending(chess.Board(fen)) is found


def test_repetition_is_named_by_its_count() -> None:
    found = [ending(shuffled(times)) for times in (1, 2, 3, 4)]
    assert found == [None, Ending.THREEFOLD, Ending.THREEFOLD, Ending.FIVEFOLD]
    assert [ending(shuffled(times), claims=False) for times in (3, 4)] == [None, Ending.FIVEFOLD]
    assert ending(shuffled(2, clock=92)) is Ending.THREEFOLD  # before the fifty moves
    assert ending(shuffled(2, clock=142)) is Ending.SEVENTY_FIVE


def test_the_score_goes_to_the_side_that_moved() -> None:
    assert [Ending.CHECKMATE.score(turn) for turn in (chess.WHITE, chess.BLACK)] == ["0-1", "1-0"]
    assert {one.score(chess.WHITE) for one in Ending if one is not Ending.CHECKMATE} == {"1/2-1/2"}


def test_the_page_has_words_of_its_own_for_the_counts() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 100 90")
    result = result_of(board)
    assert result is not None
    assert (result.score, result.reason) == ("1/2-1/2", "fifty-move rule")
    mated = result_of(chess.Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 1 1"))
    assert mated is not None
    assert (mated.score, mated.reason) == ("1-0", "checkmate")
