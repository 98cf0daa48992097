"""Whoever is ahead avoids draws and repetitions at the root; whoever is not keeps all moves."""

from __future__ import annotations

import chess

from diffusearch.agents.base import Limits
from diffusearch.agents.drawing_moves import draws, narrowed, root_moves
from diffusearch.agents.policy import PolicyAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.search.dynamics import Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.minimax.planner import Minimax

QUEEN_UP = "7k/8/8/8/8/8/8/KQ6 w - - 0 1"
STALEMATE_AT_HAND = "k7/8/1K6/8/8/8/2Q5/8 w - - 0 1"  # Qc7 is stalemate


def shuffled(fen: str) -> chess.Board:
    """Both sides have gone away and come back: the next step away repeats a position."""
    board = chess.Board(fen)
    for uci in ("b1b2", "h8g8", "b2b1", "g8h8"):
        board.push_uci(uci)
    return board


def test_a_second_occurrence_counts_as_a_draw() -> None:
    board = shuffled(QUEEN_UP)
    assert draws(board, chess.Move.from_uci("b1b2"))
    assert not draws(board, chess.Move.from_uci("b1b3"))
    assert board.fullmove_number == 3  # left as it was


def test_stalemate_and_fifty_moves_are_draws() -> None:
    assert draws(chess.Board(STALEMATE_AT_HAND), chess.Move.from_uci("c2c7"))
    late = chess.Board("7k/8/8/8/8/8/P7/KQ6 w - - 99 90")
    assert draws(late, chess.Move.from_uci("b1b2"))
    assert not draws(late, chess.Move.from_uci("a2a3"))  # a pawn's move starts the count anew


def test_ahead_they_are_left_out_and_behind_they_stay() -> None:
    board, mirrored = shuffled(QUEEN_UP), shuffled(QUEEN_UP)
    mirrored.push_uci("b1b2")  # Black, a queen down, may repeat
    repeat = chess.Move.from_uci("b1b2")
    ahead, behind = root_moves([board, mirrored], Limits(), Handmade())
    assert repeat in board.legal_moves
    assert repeat not in ahead
    assert len(behind) == mirrored.legal_moves.count()
    assert narrowed([mirrored], [behind]) is None
    assert narrowed([board], [ahead]) == [ahead]
    assert root_moves([board], Limits(), None) == [list(board.legal_moves)]


def test_where_every_move_draws_all_stay() -> None:
    board = chess.Board("7k/8/8/8/8/8/8/KQ6 w - - 99 90")
    quiet = [move for move in board.legal_moves if not board.gives_check(move)]
    assert root_moves([board], Limits(moves=tuple(quiet)), Handmade()) == [quiet]


def test_agents_do_not_repeat_when_ahead() -> None:
    board = shuffled(QUEEN_UP)
    legal = [move for move in board.legal_moves if not draws(board, move)]
    for player in (
        PolicyAgent(Handmade(), temperature=1.0, evaluator=Handmade()),
        SearchAgent(Minimax(Handmade(), Rules(), (4, 2)), evaluator=Handmade()),
    ):
        decision = player.play(board)
        assert decision.move in legal
        assert set(decision.probabilities) <= set(legal)
