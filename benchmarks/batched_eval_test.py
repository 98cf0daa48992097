"""How much batches bring evaluation: `eval actions` and `eval puzzles` by 256 against one position at a time.

Ratios, one thread, untrained networks of the paper's size (8 layers of width 256, about 7M parameters): with the
paper's encoding (a character a place), and turned with a rank of squares a place as in the package's weights.

pytest -q -s benchmarks/batched_eval_test.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import torch

from diffusearch.agents.base import Agent
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.evaluation.actions import action_accuracy
from diffusearch.evaluation.futures import random_positions
from diffusearch.evaluation.positions import Position
from diffusearch.evaluation.puzzles import Puzzle, puzzle_accuracy
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.run import Run
from diffusearch.training.recipe import Recipe


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(paradigm: str, encoding: str) -> Run:
    torch.manual_seed(0)
    compact = encoding == "compact"
    model = ModelConfig(
        paradigm=paradigm,
        encoding=encoding,
        patch=8 if compact else 1,
        head="squares" if compact else "vocabulary",
        trunk=TrunkConfig(dropout=0.0, attention="prefix" if compact else "full"),
    )
    return Run(Recipe(model=model), Denoiser(model))


AGENTS: dict[str, Callable[[], Agent]] = {
    "s-a, a rank a place": lambda: PolicyAgent(run("s-a", "compact")),
    "s-a, paper's encoding": lambda: PolicyAgent(run("s-a", "paper")),
    "diffusion (5 steps), a rank a place": lambda: ImaginingAgent(run("s-asa", "compact"), Decoding(steps=5)),
    "diffusion (5 steps), paper's encoding": lambda: ImaginingAgent(run("s-asa", "paper"), Decoding(steps=5)),
}


def seconds(job: Callable[[], object], times: int = 3) -> float:
    """The quickest of some runs: other work on the machine only ever adds."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        took.append(time.perf_counter() - start)
    return min(took)


@pytest.mark.parametrize("name", list(AGENTS))
def test_batches_against_one_at_a_time(name: str) -> None:
    agent = AGENTS[name]()
    count = 64 if name.startswith("s-a") else 8
    positions = [
        Position(one.fen, (next(iter(one.board().legal_moves)).uci(),)) for one in random_positions(count, seed=0)
    ]
    puzzles = puzzles_of(positions)
    agent.play(positions[0].board())  # warm
    few = max(4, count // 8)
    ratios = {}
    for kind, rows, measure in (("actions", positions, action_accuracy), ("puzzles", puzzles, puzzle_accuracy)):
        alone = seconds(lambda m=measure, r=rows: m(agent, r[:few], batch=1)) / few  # type: ignore[misc]
        together = seconds(lambda m=measure, r=rows: m(agent, r, batch=256)) / len(rows)  # type: ignore[misc]
        ratios[kind] = alone / together
    print(f"\n{name}: batched is {ratios['actions']:.1f} (actions), {ratios['puzzles']:.1f} (puzzles) times as fast")
    assert min(ratios.values()) > 0.8  # a batch must not cost more than its parts


def puzzles_of(positions: list[Position]) -> list[Puzzle]:
    """Puzzles of one solver's move from positions of random games; those that the setup move ends are left out."""
    out = []
    for position in positions:
        board = position.board()
        board.push_uci(position.action)
        answer = next(iter(board.legal_moves), None)
        if answer is not None:
            out.append(Puzzle("x", position.fen, (position.action, answer.uci()), 1500, ()))
    return out
