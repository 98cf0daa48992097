"""Explicit search as a player: what a decision tells of its plan, limits, temperature, lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import chess
import pytest

from diffusearch.agents.base import Limits
from diffusearch.agents.searching import REPORTED, SearchAgent
from diffusearch.search.dynamics import Dynamics, Imagined, Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.planner import Mcts
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings
from diffusearch.search.minimax.planner import Minimax
from diffusearch.search.planner import Planner
from diffusearch.search.rollout import Rollout

MIDDLE = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")


def planners(net: Any, dynamics: Dynamics) -> list[Planner]:
    return [Minimax(net, dynamics, (4, 2, 1)), Mcts(net, dynamics, Settings(simulations=40)), Rollout(net, dynamics)]


def test_a_decision_tells_what_the_search_found(world: Any) -> None:
    for dynamics in (Rules(), Imagined(world)):
        for planner in planners(world, dynamics):
            decision = SearchAgent(planner).play(MIDDLE)
            report = decision.look_ahead
            assert report is not None
            assert len(report.candidates) == REPORTED
            first = report.candidates[0]
            assert first.move == decision.move
            assert first.line[0] == decision.move
            assert first.line[: len(decision.line)] == decision.line
            shares = [decision.probabilities[one.move] for one in report.candidates]
            assert shares == sorted(shares, reverse=True)
            for one in report.candidates:
                assert 0.0 < one.prior < 1.0
                assert one.value is None or 0.0 <= one.value <= 1.0
                assert one.score is None or 0.0 <= one.score <= 1.0
            assert decision.value == (first.score if first.score is not None else decision.value)


def test_only_predicted_lines_are_imaginations_and_none_has_a_film(world: Any) -> None:
    for planner in planners(world, Rules()):
        assert SearchAgent(planner).play(MIDDLE).imagination is None
    for planner in planners(world, Imagined(world)):
        decision = SearchAgent(planner).play(MIDDLE)
        seen = decision.imagination
        assert seen is not None
        assert seen.film == ()
        assert seen.move_step is None
        assert seen.move == decision.move.uci() == seen.line[0].move
        assert (seen.value, seen.nodes) == (decision.value, decision.nodes)
        assert set(seen.probabilities) == {move.uci() for move in MIDDLE.legal_moves}
        assert sum(seen.probabilities.values()) == pytest.approx(1.0)


def test_without_a_line_nothing_is_reported(world: Any) -> None:
    for planner in planners(world, Imagined(world)):
        assert SearchAgent(planner).play(MIDDLE, Limits(line=False)).look_ahead is None


def test_limits_are_the_planners_budget(world: Any) -> None:
    minimax = SearchAgent(Minimax(world, Imagined(world)))
    assert minimax.play(MIDDLE, Limits(steps=1)).nodes == 1
    assert minimax.play(MIDDLE, Limits(depth=1)).nodes <= 9
    assert minimax.work(1) == 1
    mcts = SearchAgent(Mcts(Handmade(), settings=Settings(simulations=20)))
    assert mcts.play(MIDDLE, Limits(nodes=5)).nodes == 6
    mcts.new_game()
    assert mcts.play(MIDDLE, Limits(seconds=0.0)).nodes <= 1 + Settings().parallel
    rollout = SearchAgent(Rollout(world, Rules()))
    assert rollout.play(MIDDLE, Limits(depth=2)).nodes == 2


def test_a_game_goes_on_in_the_kept_tree_and_a_new_game_forgets_it() -> None:
    planner = Mcts(Handmade(), settings=Settings(simulations=60))
    agent, board = SearchAgent(planner), chess.Board()
    board.push(agent.play(board).move)
    tree = planner.trees[0]
    reply = tree.root.children[tree.root.moves.index(board.peek())]
    assert reply is not None
    board.push(reply.moves[int(reply.visits.argmax())])
    agent.play(board)
    assert planner.trees[0] is tree
    agent.new_game()
    assert not planner.trees


def test_unrelated_positions_share_batches_and_leave_the_kept_tree_alone() -> None:
    planner = Mcts(Handmade(), settings=Settings(simulations=24))
    decisions = SearchAgent(planner).play_many([chess.Board()] * 10)
    assert [one.nodes for one in decisions] == [25] * 10
    assert not planner.trees


def test_temperature_plays_in_proportion_to_visits() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")
    planner = Mcts(Handmade(), settings=replace(PAPER, cpuct=2.0, reuse=False))
    warm = [SearchAgent(planner, temperature=1.0, seed=seed).play(board) for seed in range(20)]
    assert len({one.move for one in warm}) > 3
    assert all(one.probabilities[one.move] > 0.0 for one in warm)
    assert len({SearchAgent(planner, seed=seed).play(board).move for seed in range(5)}) == 1


def test_strength_is_a_temperature() -> None:
    assert SearchAgent(Mcts(Handmade()), strength=25).temperature == pytest.approx(3.0)


def test_the_published_scale_is_not_shown_as_a_win_probability() -> None:
    decision = SearchAgent(Mcts(Handmade(), settings=AS_PUBLISHED)).play(chess.Board())
    assert decision.value is None
    assert decision.nodes == 100  # the root's evaluation is one of the hundred


def test_lines_come_from_one_search(world: Any) -> None:
    agent = SearchAgent(Minimax(world, Imagined(world), (4, 2, 1)))
    lines = agent.analyse(MIDDLE, lines=3)
    report = lines[0].look_ahead
    assert report is not None
    assert [one.move for one in lines] == [one.move for one in report.candidates[:3]]
    assert [one.value for one in lines] == [one.score for one in report.candidates[:3]]
    assert len({one.nodes for one in lines}) == 1


def test_what_it_is_made_of() -> None:
    agent = SearchAgent(Minimax(Handmade(), Rules(), (4, 2)), provenance={"name": "mine"})
    assert (agent.provenance, agent.horizon) == ({"name": "mine"}, 2)
    assert SearchAgent(Mcts(Handmade())).provenance == {}
