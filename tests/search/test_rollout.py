"""Rollouts: the likeliest move of each state, one after another, and where they end."""

from __future__ import annotations

import math
from typing import Any

import chess
import pytest

from diffusearch.inference.run import Run
from diffusearch.search.dynamics import Dynamics, Imagined, Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.planner import Budget, Plan
from diffusearch.search.rollout import Rollout

FOOL = "rnbqkbnr/ppppp2p/5p2/6p1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq g6 0 3"  # Qh5 mates
MATE = chess.Move.from_uci("d1h5")


def rolled(net: Any, dynamics: Dynamics, board: chess.Board, budget: Budget = Budget(), **more: Any) -> Plan:
    (plan,) = Rollout(net, dynamics, **more).plan([board], None, budget)
    return plan


def test_a_rollout_of_four_plies_follows_the_likeliest_moves(hash_net: Any, true_world: Any) -> None:
    board = chess.Board()
    likelihood = 0.0
    plan = rolled(hash_net, Imagined(true_world(hash_net)), board)
    line = plan.variation(plan.moves[0].move)
    assert line.plies is not None
    assert [ply.move for ply in line.plies] == [move.uci() for move in line.moves]
    for number, (move, ply) in enumerate(zip(line.moves, line.plies, strict=True)):
        one = hash_net.one(board)
        assert move == max(one.priors, key=lambda own: one.priors[own])
        assert ply.value == one.value
        likelihood += math.log(one.priors[move])
        board.push(move)
        last = number == 3
        assert (ply.state, ply.follows) == ((None, False) if last else (board.fen(), True))
    assert len(line.moves) == 4
    assert line.log_probability == pytest.approx(likelihood - 3 * 0.25)  # three predicted states
    assert (plan.calls, plan.evaluations) == (7, 7)


def test_the_rules_make_states_for_nothing(hash_net: Any) -> None:
    plan = rolled(hash_net, Rules(), chess.Board())
    line = plan.variation(plan.moves[0].move)
    assert len(line.moves) == 4
    assert line.plies is None
    assert (plan.calls, plan.evaluations) == (4, 4)


def test_the_move_is_that_of_one_look(hash_net: Any) -> None:
    board = chess.Board()
    priors = hash_net.one(board).priors
    for plan in (
        rolled(hash_net, Rules(), board),
        rolled(hash_net, Rules(), board, Budget(line=False)),
        rolled(hash_net, Rules(), board, depth=1),
    ):
        assert plan.policy == priors
        assert [one.move for one in plan.moves] == sorted(priors, key=lambda move: -priors[move])
        assert plan.value == hash_net.one(board).value
        assert all(one.score is None for one in plan.moves)
        other = plan.moves[5].move
        assert plan.variation(other).moves == (other,)


@pytest.mark.parametrize(("calls", "plies"), [(1, 1), (2, 1), (3, 2), (6, 3), (7, 4), (20, 4)])
def test_network_calls_limit_the_plies_of_predicted_states(
    calls: int, plies: int, hash_net: Any, true_world: Any, counting: Any
) -> None:
    net = counting(true_world(hash_net))
    plan = rolled(net, Imagined(net), chess.Board(), Budget(calls=calls))
    assert len(plan.variation(plan.moves[0].move).moves) == plies
    assert plan.calls == net.calls <= calls
    assert Rollout(net, Imagined(net)).work(calls) >= plan.evaluations


@pytest.mark.parametrize(("budget", "plies"), [(Budget(calls=3), 3), (Budget(depth=2), 2), (Budget(line=False), 1)])
def test_other_limits(budget: Budget, plies: int, hash_net: Any, counting: Any) -> None:
    net = counting(hash_net)
    plan = rolled(net, Rules(), chess.Board(), budget)
    assert len(plan.variation(plan.moves[0].move).moves) == plan.calls == net.calls == plies


def test_a_rollout_ends_with_the_game(true_world: Any, counting: Any) -> None:
    world = counting(true_world(Handmade()))
    for dynamics, calls in ((Imagined(world), 2), (Rules(), 1)):
        world.evaluated.clear()
        world.predicted.clear()
        (plan,) = Rollout(world, dynamics).plan([chess.Board(FOOL)], [[MATE]], Budget())
        assert plan.variation(MATE).moves == (MATE,)
        assert (plan.calls, plan.evaluations) == (world.calls, world.positions) == (calls, calls)


def test_a_rollout_ends_at_a_broken_state(hash_net: Any, true_world: Any) -> None:
    whole = rolled(hash_net, Rules(), chess.Board())
    line = whole.variation(whole.moves[0].move).moves
    plan = rolled(hash_net, Imagined(true_world(hash_net, broken=[line[1].uci()])), chess.Board())
    plies = plan.variation(line[0]).plies
    assert plies is not None
    assert [ply.problem for ply in plies] == [None, "White has no king"]
    assert [ply.state is None for ply in plies] == [False, True]


@pytest.mark.parametrize("predicted", [False, True])
def test_the_draw_by_repetition_ends_a_rollout(predicted: bool, true_world: Any, played: Any) -> None:
    board = played(chess.STARTING_FEN, "g1f3 g8f6 f3g1 f6g8 " + "g1f3 g8f6 f3g1")
    back = chess.Move.from_uci("f6g8")
    dynamics = Imagined(true_world(Handmade())) if predicted else Rules()
    (plan,) = Rollout(Handmade(), dynamics).plan([board], [[back]], Budget())
    assert (plan.policy, plan.variation(back).moves) == ({back: 1.0}, (back,))
    (on,) = Rollout(Handmade(), dynamics).plan([chess.Board(board.fen())], [[back]], Budget())
    assert len(on.variation(back).moves) == 4  # without the history


def test_a_batch_is_as_one_by_one_though_some_end_early(small_run: Run) -> None:
    boards = [chess.Board(FOOL), chess.Board(), chess.Board(FOOL).mirror()]
    legal = [[chess.Move.from_uci(uci)] for uci in ("d1h5", "e2e4", "d8h4")]
    planner = Rollout(small_run, Imagined(small_run))
    for board, own, one in zip(boards, legal, planner.plan(boards, legal, Budget()), strict=True):
        (alone,) = planner.plan([board], [own], Budget())
        assert alone.variation(own[0]).moves == one.variation(own[0]).moves
        assert (alone.calls, alone.evaluations) == (one.calls, one.evaluations)


def test_each_ply_is_the_networks_own_decision_about_that_state(small_run: Run, true_world: Any) -> None:
    board = chess.Board()
    plan = rolled(small_run, Imagined(true_world(small_run)), board)
    plies = plan.variation(plan.moves[0].move).plies
    assert plies is not None
    here = board.copy()
    for ply in plies:
        (alone,) = small_run.evaluate([here])
        assert ply.move == max(alone.priors, key=lambda move: alone.priors[move]).uci()
        assert ply.value == pytest.approx(alone.value, rel=1e-4)
        here.push_uci(ply.move)
    assert len(here.move_stack) == 4
