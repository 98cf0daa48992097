"""Warm-up: what is asked of an agent before its first move, and what it tells."""

from __future__ import annotations

import chess
from uci_talk import GatedAgent

from diffusearch.agents.base import Decision, Limits
from diffusearch.agents.searching import SearchAgent
from diffusearch.play.warm_up import calls_of, warm_up
from diffusearch.search.dynamics import Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.minimax.planner import Minimax


class Uncounted(GatedAgent):
    """Spends time, not network calls."""

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        return Decision(super().play(board, limits).move, {}, nodes=0)


def test_an_agent_of_network_calls() -> None:
    agent = GatedAgent()
    known = warm_up(agent)
    assert (known.has_steps, known.own_steps, known.one_search) == (True, 20, False)
    assert [limits.steps for limits in agent.asked] == [1, 1, 1, None, 3, 20]
    assert known.speed.figures is not None
    assert known.look.figures is not None


class Variable(GatedAgent):
    """Takes up to 30 calls where nothing limits it, and fewer in the first position."""

    @property
    def own_steps(self) -> int:
        return 30


def test_an_agent_that_knows_its_steps_is_believed() -> None:
    assert warm_up(Variable()).own_steps == 30


def test_an_agent_of_seconds() -> None:
    known = warm_up(Uncounted())
    assert not known.has_steps
    assert known.speed.figures is not None


def test_a_tree_gives_all_lines_at_once() -> None:
    known = warm_up(SearchAgent(Minimax(Handmade(), Rules())))
    assert known.one_search
    assert known.own_steps > 1


def test_calls_without_a_count_are_evaluations() -> None:
    move = chess.Move.from_uci("e2e4")
    assert calls_of(Decision(move, {}, nodes=7)) == 7
    assert calls_of(Decision(move, {}, nodes=0)) == 1
