from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.evaluation.latency import latency, sweep


def test_one_position_at_a_time_with_accuracy(labelled: Callable[..., Path], oracle: Any) -> None:
    games: list[int] = []
    oracle.new_game = lambda: games.append(1)
    row = latency(oracle, read_positions(labelled()))
    assert oracle.batches == []  # never batched
    assert len(games) == len(oracle.stacks) == 3 + 4  # three to warm up, four timed, each a game of its own
    assert (row["n"], row["accuracy"]) == (4, 1.0)
    times = row["milliseconds"]
    assert 0 < times["p10"] <= times["median"] <= times["p90"]


def test_sweep_sets_options_in_the_agents_text() -> None:
    assert sweep("diffusearch", []) == ["diffusearch"]
    assert sweep("diffusearch", ["steps=1,20"]) == ["diffusearch?steps=1", "diffusearch?steps=20"]
    assert sweep("mcts:a,b?simulations=9&cpuct=0.1", ["simulations=10"]) == ["mcts:a,b?simulations=10&cpuct=0.1"]
    for bad in ("steps", "steps=", "=1", "steps=1,,2"):
        with pytest.raises(UserError, match="--sweep"):
            sweep("diffusearch", [bad])
