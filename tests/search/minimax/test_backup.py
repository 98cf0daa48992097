"""Backup: minimum for the opponent, half of the maximum for the player; the score of a move for who plays it."""

from __future__ import annotations

import math

import chess
import numpy as np
import pytest

from diffusearch.inference.evaluation import Evaluation
from diffusearch.search.minimax.backup import backed_up, scores
from diffusearch.search.minimax.tree import MinimaxNode

MOVES = [chess.Move.from_uci(uci) for uci in ("a2a3", "b2b3", "c2c3")]
BOTH = [chess.Board(), chess.Board().mirror()]


@pytest.mark.parametrize("board", BOTH)
def test_values_go_up_by_who_is_to_move(board: chess.Board) -> None:
    mine, theirs = MinimaxNode(board, board.turn, 0.5), MinimaxNode(board, not board.turn, 0.5)
    assert backed_up(mine, None) == 0.5  # no valid state: as good as before the move
    assert backed_up(mine, MinimaxNode(board, board.turn, -1.0)) == -1.0
    for node in (mine, theirs):
        node.children = {MOVES[0]: None}
        assert backed_up(mine, node) == 0.5  # nothing was seen behind it
        leaves = [MinimaxNode(board, board.turn, odds) for odds in (1.0, 3.0, -2.0)]
        node.children = dict(zip(MOVES, leaves, strict=True))
    assert backed_up(mine, mine) == (0.5 + 3.0) / 2  # the mean of its own value and the best move's
    assert backed_up(mine, theirs) == -2.0  # the worst


@pytest.mark.parametrize("board", BOTH)
def test_a_reply_without_a_valid_state_counts_as_its_parent(board: chess.Board) -> None:
    theirs = MinimaxNode(board, not board.turn, 0.5, children={MOVES[0]: None})
    theirs.children[MOVES[1]] = MinimaxNode(board, not board.turn, 2.0)
    assert backed_up(theirs, theirs) == 0.5
    mine = MinimaxNode(board, board.turn, 0.5, children={MOVES[0]: theirs, MOVES[1]: None})
    assert backed_up(mine, mine) == (0.5 + 0.5) / 2


@pytest.mark.parametrize("board", BOTH)
@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_scores_are_those_of_the_side_to_move(board: chess.Board, weight: float) -> None:
    shares, odds = (0.5, 0.3, 0.2), (0.0, 0.2, 1.0)
    evaluation = Evaluation(dict(zip(MOVES, shares, strict=True)), 0.5)
    for player, sign in ((board.turn, 1), (not board.turn, -1)):
        node = MinimaxNode(board, player, evaluation=evaluation)
        node.children = {m: MinimaxNode(board, player, sign * one) for m, one in zip(MOVES, odds, strict=True)}
        expected = [math.log(share) + weight * one for share, one in zip(shares, odds, strict=True)]
        assert scores(node, weight).tolist() == pytest.approx(expected)


def test_a_prior_of_nothing_has_a_finite_score() -> None:
    board = chess.Board()
    node = MinimaxNode(board, board.turn, evaluation=Evaluation(dict.fromkeys(MOVES, 0.0), 0.5))
    node.children = dict.fromkeys(MOVES)
    assert np.isfinite(scores(node, 3.0)).all()
