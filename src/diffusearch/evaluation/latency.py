"""Milliseconds a move at batch 1 and action accuracy, for agents and options side by side.

The figures belong to the machine they were measured on: compare rows of one table, not tables of two machines. The
processor time of this process (without that of engines) does not depend on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.spec import AgentSpec
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import Progress, silent
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.labelled_positions import LabelledPosition

WARM_UP = 3  # decisions that are not timed: the first ones fill caches and compile


def latency(
    agent: Agent, positions: Sequence[LabelledPosition], limits: Limits = Limits(), progress: Progress = silent
) -> dict[str, Any]:
    """One row: time a move (one position at a time), accuracy, and network calls or nodes spent."""
    for position in positions[:WARM_UP]:
        agent.new_game()
        agent.play(position.board(), limits)
    milliseconds: list[float] = []
    processor: list[float] = []
    nodes: list[int] = []
    hits: list[bool] = []
    for position in positions:
        agent.new_game()  # nothing may be left over from the position before
        board = position.board()
        started, busy = time.perf_counter(), time.process_time()
        decision = agent.play(board, limits)
        milliseconds.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (time.process_time() - busy))
        nodes.append(decision.nodes)
        hits.append(decision.move.uci() == position.action)
        progress(1)
    return {
        **Share.of(hits).to_json(),
        "milliseconds": _spread(milliseconds),
        "processor_milliseconds": _spread(processor),
        "nodes": float(np.mean(nodes)),
    }


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
