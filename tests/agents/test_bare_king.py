"""Progress against a bare king: mate is played, nothing is given away, simple endings are won by the measure alone."""

from __future__ import annotations

import chess
import pytest

from diffusearch.agents.bare_king import faces_bare_king, measure, progressing
from diffusearch.agents.base import Limits
from diffusearch.agents.drawing_moves import root_moves
from diffusearch.agents.policy import PolicyAgent
from diffusearch.search.handmade import Handmade


def best(board: chess.Board) -> list[chess.Move]:
    return progressing(board, list(board.legal_moves))


def test_which_endings_it_knows() -> None:
    assert faces_bare_king(chess.Board("7k/8/8/8/8/8/8/KQ6 w - - 0 1"))
    assert not faces_bare_king(chess.Board("7k/8/8/8/8/8/8/KQ6 b - - 0 1"))  # the bare king is to move
    assert not faces_bare_king(chess.Board("7k/p7/8/8/8/8/8/KQ6 w - - 0 1"))
    assert faces_bare_king(chess.Board("7k/8/8/8/8/8/8/KBB5 w - - 0 1"))
    assert not faces_bare_king(chess.Board("7k/8/8/8/8/B7/8/K1B5 w - - 0 1"))  # both on dark squares
    assert not faces_bare_king(chess.Board("7k/8/8/8/8/8/8/KN6 w - - 0 1"))


def test_mate_comes_first_and_stalemate_and_gifts_never() -> None:
    mates = best(chess.Board("k7/8/1K6/8/8/8/7R/8 w - - 0 1"))
    assert mates == [chess.Move.from_uci("h2h8")]
    assert chess.Move.from_uci("c2c7") not in best(chess.Board("k7/8/1K6/8/8/8/2Q5/8 w - - 0 1"))  # stalemate
    beside = chess.Board("8/8/8/3k4/8/8/4R3/K7 w - - 0 1")
    assert chess.Move.from_uci("e2e4") not in best(beside)  # the king takes the rook
    assert beside.fen().startswith("8/8/8/3k4/8/8/4R3/K7 w")  # left as it was


def test_a_smaller_cage_and_a_nearer_king_measure_less() -> None:
    loose, shut = chess.Board("8/8/8/3k4/8/8/8/K6R b - - 0 1"), chess.Board("8/8/8/3k4/7R/8/8/K7 b - - 0 1")
    assert measure(shut, chess.WHITE) < measure(loose, chess.WHITE)
    near = chess.Board("8/8/8/3k4/7R/3K4/8/8 b - - 0 1")
    assert measure(near, chess.WHITE) < measure(shut, chess.WHITE)


def escaping(board: chess.Board) -> chess.Move:
    """The reply after which the measure is greatest."""

    def after(move: chess.Move) -> float:
        board.push(move)
        value = 1e9 if board.is_insufficient_material() else measure(board, board.turn)
        board.pop()
        return value

    return max(board.legal_moves, key=after)


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KRR5 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
    ],
)
def test_a_policy_that_knows_nothing_mates_within_fifty_moves(fen: str) -> None:
    board = chess.Board(fen)
    player = PolicyAgent(Handmade(), evaluator=Handmade())
    while board.outcome(claim_draw=True) is None:
        board.push(player.play(board).move if board.turn == chess.WHITE else escaping(board))
    assert board.is_checkmate()


def test_both_colours_are_alike() -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/KR6 w - - 0 1")
    (white,), (black,) = (root_moves([one], Limits(), Handmade()) for one in (board, board.mirror()))
    mirrored = {(chess.square_mirror(move.from_square), chess.square_mirror(move.to_square)) for move in white}
    assert {(move.from_square, move.to_square) for move in black} == mirrored
