"""Milliseconds a move at batch 1 and action accuracy, for agents and options side by side.

The agents of a table are timed in turns: what else the machine does meets all of them alike. The figures belong to the
machine and its load: compare rows of one table, not two tables. The processor time of this process (without that of
engines) does not count the time in which it waits for a processor, but other work slows it too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.spec import AgentSpec
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import Progress, silent
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.labelled_positions import LabelledPosition

WARM_UP = 3  # decisions of each agent that are not timed: the first ones fill caches and compile


@dataclass
class Timed:
    """The decisions of one agent."""

    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    hits: list[bool] = field(default_factory=list)

    def decide(self, agent: Agent, position: LabelledPosition, limits: Limits) -> None:
        """Time one decision."""
        agent.new_game()  # nothing may be left over from the position before
        board = position.board()
        started, busy = time.perf_counter(), time.process_time()
        decision = agent.play(board, limits)
        self.milliseconds.append(1000 * (time.perf_counter() - started))
        self.processor.append(1000 * (time.process_time() - busy))
        self.nodes.append(decision.nodes)
        self.hits.append(decision.move.uci() == position.action)

    def row(self) -> dict[str, Any]:
        """Time a move, accuracy, and network calls or nodes spent."""
        return {
            **Share.of(self.hits).to_json(),
            "milliseconds": _spread(self.milliseconds),
            "processor_milliseconds": _spread(self.processor),
            "nodes": float(np.mean(self.nodes)),
        }


def in_turns(
    agents: Sequence[Agent],
    positions: Sequence[LabelledPosition],
    limits: Limits = Limits(),
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """A row for each agent: all decide a position once, then the next; each time another one is the first.

    `progress` counts decisions: the agents times the positions.
    """
    for agent in agents:
        for position in positions[:WARM_UP]:
            agent.new_game()
            agent.play(position.board(), limits)
    timed = [Timed() for _ in agents]
    for number, position in enumerate(positions):
        for turn in range(len(agents)):
            which = (number + turn) % len(agents)
            timed[which].decide(agents[which], position, limits)
            progress(1)
    return [one.row() for one in timed]


def _spread(values: Sequence[float]) -> dict[str, float]:
    low, middle, high = np.percentile(values, [10, 50, 90])
    return {"mean": float(np.mean(values)), "median": float(middle), "p10": float(low), "p90": float(high)}


def sweep(agent: str, options: Sequence[str]) -> list[str]:
    """The agent's text with each value of each `name=v1,v2,...`; without options the agent alone."""
    texts = []
    for option in options:
        name, equals, values = option.partition("=")
        if not equals or not name or not all(values.split(",")):
            raise UserError(f"--sweep {option!r} is not of the form name=value,value: try --sweep steps=1,5,20.")
        texts += [str(AgentSpec.parse(agent).with_options(**{name: value})) for value in values.split(",")]
    return texts or [agent]
