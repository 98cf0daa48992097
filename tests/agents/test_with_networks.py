"""Agents on real networks, tiny and untrained: the border between boards and tensors holds."""

from __future__ import annotations

import chess
import pytest
import torch

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.agents.values import ActionValueAgent, StateValueAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.search.mcts.settings import Settings
from diffusearch.training.recipe import Recipe

FENS = [
    chess.STARTING_FEN,
    "r3k2r/pPp2ppp/8/3pP3/8/8/P1PP1PpP/R3K2R w KQkq d6 0 20",
    "r3k2r/pPp2ppp/8/3pP3/8/8/P1PP1PpP/R3K2R b KQkq - 0 20",
    "7k/8/8/8/8/8/7r/K7 w - - 99 200",
]


def untrained(paradigm: str, horizon: int = 1, root_value: bool = False) -> Run:
    torch.manual_seed(0)
    trunk = TrunkConfig(layers=1, width=16, heads=2)
    model = ModelConfig(
        paradigm=paradigm,
        horizon=horizon,
        encoding="compact",
        patch=8,
        head="squares",
        root_value=root_value,
        trunk=trunk,
    )
    return Run(Recipe(model=model), Denoiser(model))


def _agents() -> dict[str, Agent]:
    policy, value = untrained("s-a"), untrained("s-v")
    future = untrained("s-asa", horizon=3, root_value=True)
    return {
        "s-a": PolicyAgent(policy),
        "s-v": StateValueAgent(value),
        "sa-v": ActionValueAgent(untrained("sa-v")),
        "mcts": SearchAgent(policy, value, Settings(simulations=8)),
        "mcts of one run": SearchAgent(future, future, Settings(simulations=8)),
        "diffusearch": ImaginingAgent(future, Decoding(steps=3)),
        "diffusearch warm": ImaginingAgent(future, Decoding(steps=2, temperature=1.0, imaginations=2, film=True)),
        "diffusearch weak": ImaginingAgent(future, Decoding(steps=4), strength=20),
    }


@pytest.mark.parametrize("name", list(_agents()))
def test_legal_moves_lines_and_root_moves(name: str) -> None:
    agent = _agents()[name]
    boards = [chess.Board(fen) for fen in FENS]
    for board, decision in zip(boards, agent.play_many(boards), strict=True):
        assert board.is_legal(decision.move)
        assert sum(decision.probabilities.values()) == pytest.approx(1.0)
        assert decision.value is None or 0.0 <= decision.value <= 1.0
    board = boards[1]
    lines = agent.analyse(board, lines=3)
    assert len({one.move for one in lines}) == 3
    promotion = chess.Move.from_uci("b7a8n")
    assert agent.play(board, Limits(moves=(promotion,))).move == promotion
