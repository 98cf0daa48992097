"""Metrics of moves on tiny networks: batched, alone, and with or without lines, every agent plays the same."""

from __future__ import annotations

import chess
import pytest
import torch

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.evaluation.actions import MOVES_ONLY, decide
from diffusearch.evaluation.future_quality import random_positions
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.training.recipe import Recipe


def untrained(paradigm: str, horizon: int) -> Run:
    torch.manual_seed(0)
    trunk = TrunkConfig(layers=2, width=32, heads=2, attention="prefix")
    model = ModelConfig(
        paradigm=paradigm, horizon=horizon, encoding="compact", patch=8, head="squares", root_value=True, trunk=trunk
    )
    return torch_run(Recipe(model=model, horizons=(1.0,) * horizon), Denoiser(model))


AGENTS: dict[str, Agent] = {
    "s-a": PolicyAgent(untrained("s-a", 1)),
    "plies": ImaginingAgent(JointDenoiser(untrained("s-asa", 3)), Decoding(order="plies")),
    "plies, several": ImaginingAgent(
        JointDenoiser(untrained("s-asa", 3)), Decoding(order="plies", imaginations=2, temperature=1e-6)
    ),
    "confidence": ImaginingAgent(JointDenoiser(untrained("s-asa", 3)), Decoding(steps=4)),
}


@pytest.mark.parametrize("name", list(AGENTS))
def test_batches_and_missing_lines_change_no_move(name: str) -> None:
    agent = AGENTS[name]
    boards: list[chess.Board] = [one.board() for one in random_positions(12, seed=0)]
    played = [agent.play(board) for board in boards]
    for limits in (Limits(), MOVES_ONLY):
        for batch in (1, 5, 256):
            decisions = decide(agent, boards, limits, batch)
            assert [one.move for one in decisions] == [one.move for one in played]
            assert all(one.line[0] == one.move for one in decisions)
