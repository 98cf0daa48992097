"""How much batches bring evaluation: `eval actions` and `eval puzzles` by 256 against one position at a time.

Ratios of CPU seconds, one thread: the package's weights, and untrained networks of the paper's size (8 layers of width
256, about 7M parameters) turned with a rank of squares a place as in the package, and with the paper's encoding (a
character a place). Two things are compared with the batch, in turns, so that other work on the machine hits all alike:

- playing: one position at a time with all that `play` gives, the imagined line included
- the same metric with --batch 1: neither side imagines lines, so that only the batch differs

pytest -q -s benchmarks/batched_eval_test.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.evaluation.actions import action_accuracy
from diffusearch.evaluation.future_quality import random_positions
from diffusearch.evaluation.labelled_positions import LabelledPosition
from diffusearch.evaluation.puzzles import LichessPuzzle, puzzle_accuracy
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.training.recipe import Recipe
from diffusearch.weights import packaged


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
        horizon=1 if paradigm == "s-a" else 4,
        encoding=encoding,
        patch=8 if compact else 1,
        head="squares" if compact else "vocabulary",
        residual_state=compact and paradigm != "s-a",
        trunk=TrunkConfig(dropout=0.0, attention="prefix" if compact else "full"),
    )
    return torch_run(Recipe(model=model), Denoiser(model))


PLIES = Decoding(order="plies")  # and no search, which would be imagined in any case
AGENTS: dict[str, Callable[[], Agent]] = {
    "s-a, packaged": lambda: PolicyAgent(Run.load(packaged("s-a"))),
    "diffusearch, packaged": lambda: ImaginingAgent(JointDenoiser(Run.load(packaged("diffusearch"))), PLIES),
    "s-a 7M, a rank a place": lambda: PolicyAgent(run("s-a", "compact")),
    "diffusion 7M, a rank a place": lambda: ImaginingAgent(JointDenoiser(run("s-asa", "compact")), PLIES),
    "s-a 7M, paper's encoding": lambda: PolicyAgent(run("s-a", "paper")),
    "diffusion 7M, paper's encoding": lambda: ImaginingAgent(JointDenoiser(run("s-asa", "paper")), PLIES),
}


def seconds(job: Callable[[], object]) -> float:
    """CPU seconds of this one thread: what others do on the machine counts little."""
    start = time.process_time()
    job()
    return time.process_time() - start


@pytest.mark.parametrize("name", list(AGENTS))
def test_batches_against_one_at_a_time(name: str) -> None:
    agent = AGENTS[name]()
    count, times = (8, 1) if "paper" in name else (128, 3)
    positions = [
        LabelledPosition(one.fen, (next(iter(one.board().legal_moves)).uci(),))
        for one in random_positions(count, seed=0)
    ]
    agent.play(positions[0].board())  # warm
    print(f"\n{name}: a batch is")
    metrics: list[tuple[str, list[Any], Callable[..., object]]] = [
        ("actions", positions, action_accuracy),
        ("puzzles", puzzles_of(positions), puzzle_accuracy),
    ]
    for kind, rows, measure in metrics:
        few = rows[:: max(1, count // 16)]
        jobs: dict[str, tuple[int, Callable[[], object]]] = {
            "playing": (len(few), partial(measure, agent, few, limits=Limits(), batch=1)),
            "--batch 1": (len(few), partial(measure, agent, few, batch=1)),
            "batch": (len(rows), partial(measure, agent, rows, batch=256)),
        }
        quickest = dict.fromkeys(jobs, math.inf)  # a row; of some rounds: other work only ever adds
        for _ in range(times):
            for what, (size, job) in jobs.items():
                quickest[what] = min(quickest[what], seconds(job) / size)
        ratios = {what: took / quickest["batch"] for what, took in quickest.items()}
        print(f"  {kind}: {ratios['playing']:.1f} times as fast as playing, {ratios['--batch 1']:.1f} as --batch 1")
        assert min(ratios.values()) > 0.8  # a batch must not cost more than its parts


def puzzles_of(positions: list[LabelledPosition]) -> list[LichessPuzzle]:
    """Puzzles of one solver's move from positions of random games; those that the setup move ends are left out."""
    out = []
    for position in positions:
        board = position.board()
        board.push_uci(position.action)
        answer = next(iter(board.legal_moves), None)
        if answer is not None:
            out.append(LichessPuzzle("x", position.fen, (position.action, answer.uci()), 1500, ()))
    return out
