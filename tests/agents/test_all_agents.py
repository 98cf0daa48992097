"""What every agent must do, whoever it is: legal moves, shares that sum to 1, history, odd positions, many boards."""

from __future__ import annotations

import chess
import pytest

from diffusearch.agents.base import Agent, Limits
from diffusearch.errors import UserError

ODD = {
    "one legal move": "7k/8/8/8/8/8/7r/K7 w - - 0 1",
    "under-promotion": "6br/5Ppk/6pp/8/8/8/8/K7 w - - 0 1",
    "en passant pinned": "7k/8/8/KPp4r/8/8/8/8 w - c6 0 1",
    "218 moves": "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "bare kings": "8/8/4k3/8/8/3K4/8/8 w - - 0 1",
    "castling": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "in double check": "4k3/8/8/8/4r3/5n2/8/4K3 w - - 0 1",
    "fifty moves passed": "4k3/8/8/8/8/8/8/R3K3 w - - 120 90",
    "mate to give": "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "late": "4k3/8/8/8/8/8/8/R3K3 b - - 3 321",
}


def check(agent: Agent, board: chess.Board, limits: Limits = Limits()) -> None:
    before, stack = board.fen(), list(board.move_stack)
    decision = agent.play(board, limits)
    assert decision.move in board.legal_moves
    assert (board.fen(), board.move_stack) == (before, stack)
    assert set(decision.probabilities) <= set(board.legal_moves)
    assert sum(decision.probabilities.values()) == pytest.approx(1.0)
    assert decision.line[0] == decision.move
    assert decision.value is None or 0.0 <= decision.value <= 1.0
    assert decision.seconds >= 0.0
    replay = board.copy()
    for move in decision.line:
        assert move in replay.legal_moves
        replay.push(move)


@pytest.mark.parametrize("fen", ODD.values(), ids=ODD.keys())
def test_odd_positions_of_both_colours(mock_agent: Agent, fen: str) -> None:
    for board in (chess.Board(fen), chess.Board(fen).mirror()):
        assert any(board.legal_moves)
        mock_agent.new_game()
        check(mock_agent, board)


def test_the_odd_positions_are_what_they_say() -> None:
    assert chess.Board(ODD["218 moves"]).legal_moves.count() == 218
    assert chess.Board(ODD["one legal move"]).legal_moves.count() == 1
    assert len(chess.Board(ODD["in double check"]).checkers()) == 2
    pinned = chess.Board(ODD["en passant pinned"])
    assert pinned.is_pseudo_legal(chess.Move.from_uci("b5c6"))
    assert not pinned.is_legal(chess.Move.from_uci("b5c6"))


def test_a_repeated_position_is_played_on(mock_agent: Agent) -> None:
    board = chess.Board()
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8"] * 3:
        board.push_uci(uci)
    check(mock_agent, board)


@pytest.mark.parametrize("fen", ["R5k1/5ppp/8/8/8/8/8/6K1 b - - 1 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
def test_a_finished_game_is_refused_in_words(mock_agent: Agent, fen: str) -> None:
    with pytest.raises(UserError, match="no move to play"):
        mock_agent.play(chess.Board(fen))


def test_root_moves_are_kept_to(mock_agent: Agent) -> None:
    board = chess.Board()
    wanted = tuple(chess.Move.from_uci(uci) for uci in ("a2a3", "h2h4"))
    decision = mock_agent.play(board, Limits(moves=wanted))
    assert decision.move in wanted
    assert set(decision.probabilities) <= set(wanted)
    assert all(one.move in wanted for one in mock_agent.analyse(board, Limits(moves=wanted), lines=5))
    with pytest.raises(UserError, match="e2e5"):
        mock_agent.play(board, Limits(moves=(chess.Move.from_uci("e2e5"),)))


def test_lines_are_different_moves_best_first(mock_agent: Agent) -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")
    lines = mock_agent.analyse(board, lines=4)
    assert len(lines) == 4
    assert len({one.move for one in lines}) == 4
    assert all(one.line[0] == one.move for one in lines)
    shares = [lines[0].probabilities[one.move] for one in lines]
    assert shares == sorted(shares, reverse=True)
    single = chess.Board(ODD["one legal move"])
    assert len(mock_agent.analyse(single, lines=4)) == 1


def test_many_boards_are_decided_as_one_by_one(mock_agent: Agent) -> None:
    boards = [chess.Board(fen) for fen in ODD.values()]
    alone = []
    for board in boards:
        mock_agent.new_game()
        alone.append(mock_agent.play(board).move)
    mock_agent.new_game()
    assert [decision.move for decision in mock_agent.play_many(boards)] == alone
    assert mock_agent.play_many([]) == []
