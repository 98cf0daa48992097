"""Fallback moves: the expected one where the game followed the line, else greedy; always legal."""

from __future__ import annotations

import chess
import pytest

from diffusearch.play.fallback_move import ExpectedLine, fallback_move


def line(*words: str) -> tuple[chess.Move, ...]:
    return tuple(chess.Move.from_uci(word) for word in words)


def test_the_expected_move_is_played_when_the_expected_reply_came() -> None:
    expected = ExpectedLine()
    expected.keep(chess.Board(), line("e2e4", "e7e5", "g1f3", "b8c6"))
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    decision = fallback_move(board, (), expected, seed=0)
    assert decision.line == line("g1f3", "b8c6")
    assert fallback_move(board, line("a2a3"), expected, seed=0).move == line("a2a3")[0]  # searchmoves come first


def test_another_reply_makes_the_expected_worthless() -> None:
    expected = ExpectedLine()
    expected.keep(chess.Board(), line("e2e4", "e7e5", "g1f3"))
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("d7d5")
    assert fallback_move(board, (), expected, seed=0).move == chess.Move.from_uci("e4d5")  # takes what it can


def test_short_lines_are_no_expected() -> None:
    expected = ExpectedLine()
    expected.keep(chess.Board(), line("e2e4", "e7e5"))
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    assert expected.rest(board) == ()


def test_the_board_that_the_worker_reads_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer asks for the move while the worker copies the same board: a move pushed for a moment would be seen."""
    board, push, pushed = chess.Board(), chess.Board.push, []

    def noting(self: chess.Board, move: chess.Move) -> None:
        pushed.append(self is board)
        push(self, move)

    monkeypatch.setattr(chess.Board, "push", noting)
    assert fallback_move(board, (), ExpectedLine(), seed=0).move in board.legal_moves
    assert pushed
    assert not any(pushed)
