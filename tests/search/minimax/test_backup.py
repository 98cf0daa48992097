"""Backup: minimum for the opponent, half of the maximum for the player; the score of a move for who plays it."""

from __future__ import annotations

import math

import chess
import numpy as np
import pytest

from diffusearch.inference.evaluation import Evaluation
from diffusearch.search.minimax.backup import BACKUPS, Backup, half_max, line_mean, scores
from diffusearch.search.minimax.tree import MinimaxNode

MOVES = [chess.Move.from_uci(uci) for uci in ("a2a3", "b2b3", "c2c3")]
BOTH = [chess.Board(), chess.Board().mirror()]


@pytest.mark.parametrize("board", BOTH)
def test_values_go_up_by_who_is_to_move(board: chess.Board) -> None:
    mine, theirs = MinimaxNode(board, board.turn, 0.5), MinimaxNode(board, not board.turn, 0.5)
    assert half_max(mine, None) == 0.5  # no valid state: as good as before the move
    assert half_max(mine, MinimaxNode(board, board.turn, -1.0)) == -1.0
    for node in (mine, theirs):
        node.children = {MOVES[0]: None}
        assert half_max(mine, node) == 0.5  # nothing was seen behind it
        leaves = [MinimaxNode(board, board.turn, odds) for odds in (1.0, 3.0, -2.0)]
        node.children = dict(zip(MOVES, leaves, strict=True))
    assert half_max(mine, mine) == (0.5 + 3.0) / 2  # the mean of its own value and the best move's
    assert half_max(mine, theirs) == -2.0  # the worst


@pytest.mark.parametrize("board", BOTH)
def test_a_reply_without_a_valid_state_counts_as_its_parent(board: chess.Board) -> None:
    theirs = MinimaxNode(board, not board.turn, 0.5, children={MOVES[0]: None})
    theirs.children[MOVES[1]] = MinimaxNode(board, not board.turn, 2.0)
    assert half_max(theirs, theirs) == 0.5
    mine = MinimaxNode(board, board.turn, 0.5, children={MOVES[0]: theirs, MOVES[1]: None})
    assert half_max(mine, mine) == (0.5 + 0.5) / 2


@pytest.mark.parametrize("board", BOTH)
@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("backup", BACKUPS.values(), ids=BACKUPS)
def test_scores_are_those_of_the_side_to_move(board: chess.Board, weight: float, backup: Backup) -> None:
    shares, odds = (0.5, 0.3, 0.2), (0.0, 0.2, 1.0)
    evaluation = Evaluation(dict(zip(MOVES, shares, strict=True)), 0.5)
    for player, sign in ((board.turn, 1), (not board.turn, -1)):
        node = MinimaxNode(board, player, evaluation=evaluation)
        node.children = {m: MinimaxNode(board, player, sign * one) for m, one in zip(MOVES, odds, strict=True)}
        expected = [math.log(share) + weight * one for share, one in zip(shares, odds, strict=True)]
        assert scores(node, weight, backup).tolist() == pytest.approx(expected)


def test_a_prior_of_nothing_has_a_finite_score() -> None:
    board = chess.Board()
    node = MinimaxNode(board, board.turn, evaluation=Evaluation(dict.fromkeys(MOVES, 0.0), 0.5))
    node.children = dict.fromkeys(MOVES)
    assert np.isfinite(scores(node, 3.0, half_max)).all()


@pytest.mark.parametrize("board", BOTH)
def test_the_mean_along_the_line_that_both_sides_choose(board: chess.Board) -> None:
    """By hand: the player's move leads to 1.0; replies to 0.0 and 2.0; behind each the player has two moves."""
    far = [[MinimaxNode(board, board.turn, odds) for odds in pair] for pair in ((-3.0, 4.0), (1.0, 0.0))]
    replies = [MinimaxNode(board, board.turn, odds) for odds in (0.0, 2.0)]  # the player's turn
    for reply, behind in zip(replies, far, strict=True):
        reply.children = dict(zip(MOVES, behind, strict=False))
    after = MinimaxNode(board, not board.turn, 1.0)  # the opponent's turn
    after.children = dict(zip(MOVES, replies, strict=False))
    root = MinimaxNode(board, board.turn, 0.5, children={MOVES[0]: after})
    # first reply: best line 1.0, 0.0, 4.0 (mean 5/3); second: 1.0, 2.0, 1.0 (mean 4/3), which the opponent takes
    assert line_mean(root, after) == pytest.approx(4 / 3)
    assert line_mean(root, None) == 0.5
    assert line_mean(root, MinimaxNode(board, board.turn, -1.0)) == -1.0
