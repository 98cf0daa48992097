"""How much batches bring the search: ratios, on an untrained network of the small size that the package ships.

pytest -q -s benchmarks/mcts_speed_test.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import chess
import pytest
import torch

from diffusearch.agents.searching import SearchAgent
from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.mcts.planner import Mcts
from diffusearch.search.mcts.settings import Settings
from diffusearch.training.recipe import Recipe

SIMULATIONS = 48
BOARDS = 16


@pytest.fixture(scope="module")
def net() -> Run:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trunk = TrunkConfig(layers=6, width=192, heads=6, attention="prefix")
    model = ModelConfig(
        paradigm="s-a", horizon=1, encoding="compact", patch=8, head="squares", root_value=True, trunk=trunk
    )
    return torch_run(Recipe(model=model), Denoiser(model))


def player(evaluator: Evaluator, **settings: Any) -> SearchAgent:
    """MCTS that starts a new tree for each move."""
    return SearchAgent(Mcts(evaluator, settings=Settings(**({"simulations": SIMULATIONS, "reuse": False} | settings))))


def seconds(job: Callable[[], object], times: int = 3) -> float:
    """The quickest of some runs: other work on the machine only ever adds."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        took.append(time.perf_counter() - start)
    return min(took)


def boards() -> list[chess.Board]:
    out = [chess.Board()]
    for uci in ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "c1e3", "e7e5", "d4b3"]:
        following = out[-1].copy()
        following.push_uci(uci)
        out.append(following)
    return (out * 2)[:BOARDS]


def test_leaves_in_one_batch(net: Run) -> None:
    """One tree: `parallel` leaves a network call against one at a time."""
    alone = player(net, parallel=1)
    base = seconds(lambda: alone.play(chess.Board()))
    for parallel in (2, 4, 8, 16):
        agent = player(net, parallel=parallel)
        print(f"parallel {parallel}: {base / seconds(lambda a=agent: a.play(chess.Board())):.1f} times as fast as 1")


def test_trees_side_by_side(net: Run) -> None:
    """Many positions: common batches against one position after another, with equal moves."""
    agent = player(net)
    sample = boards()
    one_by_one = seconds(lambda: [agent.play(board) for board in sample], times=1)
    together = seconds(lambda: agent.play_many(sample), times=1)
    print(f"{BOARDS} positions together: {one_by_one / together:.1f} times as fast as one by one")
    assert [d.move for d in agent.play_many(sample[:3])] == [agent.play(board).move for board in sample[:3]]


def test_share_of_the_networks(net: Run) -> None:
    """What is left for the tree itself: the time outside the networks, as a share."""
    spent = 0.0

    class Timed:
        def evaluate(
            self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
        ) -> list[Evaluation]:
            nonlocal spent
            start = time.perf_counter()
            out = net.evaluate(boards, legal, priors=priors)
            spent += time.perf_counter() - start
            return out

    agent = player(Timed(), simulations=4 * SIMULATIONS)
    whole = seconds(lambda: agent.play(chess.Board()), times=1)
    print(f"the tree takes {1 - spent / whole:.0%} of the time, the networks the rest")
