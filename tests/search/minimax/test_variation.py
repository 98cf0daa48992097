"""The principal variation: read off the tree, with the predicted states, and where it ends."""

from __future__ import annotations

import math
from typing import Any

import chess
import pytest

from diffusearch.inference.evaluation import Evaluation
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.minimax.backup import half_max
from diffusearch.search.minimax.planner import Minimax
from diffusearch.search.minimax.tree import MinimaxNode, Widths
from diffusearch.search.minimax.variation import principal_variation
from diffusearch.search.planner import Budget, Plan

MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"


def seen(net: Any, board: chess.Board, widths: Widths) -> Plan:
    (plan,) = Minimax(net, Imagined(net), widths).plan([board], None, Budget())
    return plan


def test_the_variation_is_as_deep_as_the_tree_and_costs_nothing(greedy: Any) -> None:
    net, board = greedy(value=0.4), chess.Board()
    plan = seen(net, board, (2, 2, 2, 1))
    asked = len(net.asked)
    line = plan.variation(plan.moves[0].move)
    assert len(net.asked) == asked
    assert (plan.calls, plan.evaluations) == (9, 1 + 2 * (2 + 4 + 8 + 8))
    assert line.plies is not None
    assert [ply.move for ply in line.plies] == [move.uci() for move in line.moves]
    likelihood = 0.0
    for move, ply in zip(line.moves, line.plies, strict=True):
        likelihood += math.log(net.evaluate([board])[0].priors[move]) - 0.25
        board.push(move)
        assert (ply.legal, ply.value, ply.problem, ply.wrong) == (True, 0.4, None, ())
        squares = "".join(str(board.piece_at(square ^ 56) or ".") for square in range(64))
        assert (ply.state, ply.squares, ply.follows) == (board.fen(), squares, True)
    assert len(line.moves) == 4
    assert line.log_probability == pytest.approx(likelihood)


def test_the_rules_make_a_line_of_moves_without_predictions(greedy: Any) -> None:
    net, board = greedy(), chess.Board()
    (plan,) = Minimax(net, Rules(), (2, 2, 1)).plan([board], None, Budget())
    line = plan.variation(plan.moves[0].move)
    assert line.plies is None
    for move in line.moves:
        assert board.is_legal(move)
        board.push(move)
    assert len(line.moves) == 3


def test_a_move_that_was_not_followed_stands_alone(greedy: Any) -> None:
    plan = seen(greedy(), chess.Board(), (2, 1))
    last = plan.moves[-1].move
    line = plan.variation(last)
    assert line.moves == (last,)
    assert line.plies is not None
    assert (line.plies[0].state, line.plies[0].problem) == (None, None)


def test_a_variation_ends_with_the_game_and_at_a_broken_state(greedy: Any) -> None:
    board = chess.Board(MATE)
    plan = seen(greedy(value=0.4), board, (64, 2))
    line = plan.variation(plan.moves[0].move)
    board.push(plan.moves[0].move)
    assert board.is_checkmate()
    assert line.plies is not None
    assert [ply.state for ply in line.plies] == [board.fen()]
    board = chess.Board()
    plan = seen(greedy(blind=[move.uci() for move in board.legal_moves]), board, (3, 2))
    plies = plan.variation(plan.moves[0].move).plies
    assert plies is not None
    (ply,) = plies
    assert (ply.state, ply.problem, ply.squares, ply.follows) == (None, "White has no king", "K" * 64, False)
    assert len(ply.wrong) == 63  # one king does stand there


@pytest.mark.parametrize("mirrored", [False, True])
def test_each_side_plays_the_followed_move_with_the_best_score(mirrored: bool) -> None:
    board = chess.Board().mirror() if mirrored else chess.Board()
    first, *moves = list(board.legal_moves)[:4]
    evaluation = Evaluation(dict(zip(moves, (0.5, 0.3, 0.2), strict=True)), 0.5)
    for player, sign in ((board.turn, 1), (not board.turn, -1)):
        node = MinimaxNode(board, player, evaluation=evaluation)
        node.children = {m: MinimaxNode(board, player, sign * o) for m, o in zip(moves, (0.0, 0.2, 1.0), strict=True)}
        root = MinimaxNode(board, player, evaluation=Evaluation({first: 1.0}, 0.5), children={first: node})
        lines = [principal_variation(root, first, weight, half_max).moves for weight in (0.0, 0.5, 1.0)]
        assert lines == [(first, moves[0]), (first, moves[0]), (first, moves[2])]
