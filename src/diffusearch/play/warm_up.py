"""What the UCI engine measures of an agent before its first move: how fast it is, and what it spends."""

from __future__ import annotations

import time
from dataclasses import dataclass

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.play.clock import Speed
from diffusearch.play.scoring import FIRST_LOOK


@dataclass(frozen=True)
class Measured:
    """The agent's speed and habits."""

    speed: Speed  # of full decisions
    look: Speed  # of first looks
    has_steps: bool  # whether network calls are what it spends, not seconds
    own_steps: int = 1  # how many it spends, at most, where nothing limits it
    one_search: bool = False  # whether one search gives all lines of MultiPV


def warm_up(agent: Agent) -> Measured:
    """Play some moves of the first position and measure them."""
    board = chess.Board()
    # Twice: the first call pays for lazy initialisation, the second tells the speed.
    agent.play(board, FIRST_LOOK)
    began = time.monotonic()
    agent.play(board, FIRST_LOOK)
    spent = time.monotonic() - began
    speed, look = Speed(), Speed()
    speed.measured(spent, 1, 1)
    look.measured(spent, 1, 1)
    if not 0 < agent.play(board, Limits(steps=1)).nodes <= agent.work(1):
        return Measured(speed, look, has_steps=False)
    own = agent.play(board)
    for steps in (3, calls_of(own)):  # evaluations in a batch may be cheaper than one by one
        began = time.monotonic()
        decision = agent.play(board, Limits(steps=steps, line=False))
        speed.measured(time.monotonic() - began, calls_of(decision), decision.nodes)
    one_search = own.look_ahead is not None and own.look_ahead.by == "search"
    return Measured(speed, look, True, agent.own_steps or calls_of(own), one_search)


def calls_of(decision: Decision) -> int:
    """Network calls of a decision; an agent that does not count them evaluates one position a call."""
    return decision.imagination.steps if decision.imagination else max(1, decision.nodes)
