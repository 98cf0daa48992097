"""Imagined plies: a state follows when it is exactly what the move gives, and differences are named by square."""

from __future__ import annotations

import chess
import pytest

from diffusearch.inference.evaluation import PredictedState
from diffusearch.inference.imagination import letters, ply_of, predicted_ply

START = chess.Board()
EN_PASSANT = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3"


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, EN_PASSANT, "8/8/8/8/8/8/k7/7K w - - 0 1"])
def test_letters_are_those_of_the_board(fen: str) -> None:
    board = chess.Board(fen)
    assert letters(board) == "".join(str(board).split())


def after(uci: str, **changed: int) -> chess.Board:
    board = chess.Board()
    board.push_uci(uci)
    for name, value in changed.items():
        setattr(board, name, value)
    return chess.Board(board.fen())


def test_a_state_follows_when_it_is_the_same_to_the_clock() -> None:
    for board, follows in ((after("e2e4"), True), (after("e2e4", halfmove_clock=1), False), (after("e2e3"), False)):
        ply = ply_of(START, "e2e4", board, None, letters(board))
        assert (ply.legal, ply.follows, ply.state) == (True, follows, board.fen())
    assert not ply_of(START, "e2e4", None, "White has no king", None).follows


def test_wrong_squares_are_named() -> None:
    board = after("e2e3")
    assert ply_of(START, "e2e4", board, None, letters(board)).wrong == (chess.E3, chess.E4)
    assert ply_of(START, "e2e5", board, None, letters(board)).wrong == ()  # an illegal move has no true result


def test_a_predicted_state_is_shown_whether_it_is_a_position_or_not() -> None:
    move, board = chess.Move.from_uci("e2e4"), after("e2e4")
    valid = predicted_ply(START, move, PredictedState(board), 0.4)
    assert (valid.state, valid.follows, valid.squares, valid.value) == (board.fen(), True, letters(board), 0.4)
    invalid = predicted_ply(START, move, PredictedState(None, "White has no king", "." * 64), None)
    assert (invalid.state, invalid.problem, invalid.squares) == (None, "White has no king", "." * 64)
    assert (len(invalid.wrong), invalid.value) == (32, None)
    unseen = predicted_ply(START, move, None, 0.4)
    assert (unseen.move, unseen.legal, unseen.state, unseen.squares) == ("e2e4", True, None, None)
