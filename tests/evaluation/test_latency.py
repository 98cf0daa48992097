from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.evaluation.latency import WARM_UP, in_turns, sweep


def test_one_position_at_a_time_with_accuracy(labelled: Callable[..., Path], oracle: Any) -> None:
    games: list[int] = []
    oracle.new_game = lambda: games.append(1)
    (row,) = in_turns([oracle], read_positions(labelled()))
    assert oracle.batches == []  # never batched
    assert len(games) == len(oracle.stacks) == 3 + 4  # three to warm up, four timed, each a game of its own
    assert (row["n"], row["accuracy"]) == (4, 1.0)
    times = row["milliseconds"]
    assert 0 < times["p10"] <= times["median"] <= times["p90"]


def test_agents_decide_each_position_in_turns_and_another_is_first_each_time(
    labelled: Callable[..., Path], random_agent: Any
) -> None:
    """What else the machine does meets all agents alike: none is timed as a block."""
    positions = read_positions(labelled())
    asked: list[tuple[str, str]] = []

    class Noted(type(random_agent)):  # type: ignore[misc]
        def play(self, board: Any, *more: Any) -> Any:
            asked.append((self.name, board.epd()))
            return super().play(board, *more)

    agents = [Noted() for _ in "abc"]
    for agent, name in zip(agents, "abc", strict=True):
        agent.name = name
    counted: list[int] = []
    rows = in_turns(agents, positions, progress=counted.append)
    warm, timed = asked[: 3 * WARM_UP], asked[3 * WARM_UP :]
    assert [name for name, _ in warm] == ["a"] * WARM_UP + ["b"] * WARM_UP + ["c"] * WARM_UP
    assert "".join(name for name, _ in timed) == "abc" + "bca" + "cab" + "abc"
    assert [epd for _, epd in timed] == [one.board().epd() for one in positions for _ in "abc"]
    assert sum(counted) == len(timed) == 12
    assert [row["n"] for row in rows] == [4, 4, 4]


def test_sweep_sets_options_in_the_agents_text() -> None:
    assert sweep("diffusearch", []) == ["diffusearch"]
    assert sweep("diffusearch", ["steps=1,20"]) == ["diffusearch?steps=1", "diffusearch?steps=20"]
    assert sweep("mcts:a,b?simulations=9&cpuct=0.1", ["simulations=10"]) == ["mcts:a,b?simulations=10&cpuct=0.1"]
    for bad in ("steps", "steps=", "=1", "steps=1,,2"):
        with pytest.raises(UserError, match="--sweep"):
            sweep("diffusearch", [bad])
