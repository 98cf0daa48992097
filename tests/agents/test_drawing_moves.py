"""Whoever is ahead avoids draws and repetitions at the root; whoever is not keeps all moves."""

from __future__ import annotations

import chess

from diffusearch.agents.base import Limits
from diffusearch.agents.drawing_moves import AHEAD, draws, root_moves
from diffusearch.agents.policy import PolicyAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.search.dynamics import Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.minimax.planner import Minimax

QUEEN_UP = "7k/8/8/p7/8/8/8/KQ6 w - - 0 1"  # a pawn is left to Black: the network's value decides
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
    both = root_moves([board, mirrored], Limits(), Handmade())
    ahead, behind = both
    assert repeat in board.legal_moves
    assert repeat not in ahead
    assert len(behind) == mirrored.legal_moves.count()
    assert both.allowed == [ahead, behind]
    assert root_moves([mirrored], Limits(), Handmade()).allowed is None  # all the legal ones
    assert root_moves([board], Limits(), None) == [list(board.legal_moves)]
    assert root_moves([board], Limits(moves=(repeat,)), None).allowed == [[repeat]]


def test_where_every_move_draws_all_stay() -> None:
    board = chess.Board("7k/8/8/p7/8/8/8/KQ6 w - - 99 90")
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


def test_with_few_men_a_reply_that_draws_or_takes_the_last_winning_piece_is_seen() -> None:
    board = chess.Board("8/8/8/8/3r4/8/3Q4/K6k w - - 0 1")
    (kept,) = root_moves([board], Limits(), Handmade())
    beside = chess.Move.from_uci("d2d3")  # the rook takes the queen there
    assert beside in board.legal_moves
    assert beside not in kept
    assert chess.Move.from_uci("d2d4") in kept
    crowd = chess.Board("8/pp6/8/8/3r4/8/3Q2PP/K6k w - - 0 1")  # more men: only the network is asked
    assert beside in root_moves([crowd], Limits(), Handmade())[0]


def test_a_player_with_a_pawn_more_offers_itself_no_threefold() -> None:
    """Against itself, from positions with a pawn less for the other side."""
    for fen in (
        "rnbqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
    ):
        board = chess.Board(fen)
        stronger = board.turn
        player = SearchAgent(Minimax(Handmade(), Rules(), (4, 2)), evaluator=Handmade())
        for _ in range(60):
            if board.outcome(claim_draw=True) is not None:
                break
            ahead = Handmade().evaluate([board], priors=False)[0].value
            move = player.play(board).move
            others = [one for one in board.legal_moves if not draws(board, one)]
            assert not (
                board.turn == stronger and ahead is not None and ahead > AHEAD and others and draws(board, move)
            )
            board.push(move)
