"""Agents without weights (by formula, with random futures, an engine that misbehaves), and runs with random weights."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import torch

from diffusearch.agents.base import Agent
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.agents.simple import GreedyMaterialAgent, RandomAgent
from diffusearch.agents.values import ActionValueAgent, StateValueAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.inference.imagination import Imagination, Ply
from diffusearch.model.denoiser import Denoiser
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.handmade import Handmade, gain
from diffusearch.search.mcts.planner import Mcts
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings
from diffusearch.search.minimax.planner import Minimax
from diffusearch.search.rollout import Rollout
from diffusearch.tokens.layout import Layout, layout
from diffusearch.tokens.values import win_probability
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text


class GainActionValue:
    """q(s, a) from what the move takes."""

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [{move: win_probability(gain(board, move), None) for move in board.legal_moves} for board in boards]


class World(Handmade):
    """Evaluates by hand and predicts by the rules; after every third move it predicts no position."""

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        out = []
        for board, move in zip(boards, moves, strict=True):
            after = board.copy(stack=False)
            after.push(move)
            broken = (move.from_square + move.to_square) % 3 == 0
            whole = PredictedState(chess.Board(after.fen()), log_probability=-1.0)
            out.append(PredictedState(None, "White has no king", "." * 64, -1.0) if broken else whole)
        return out


class Dreamer:
    """Imagines: first moves as the policy says, then random legal moves, and at the end one that is not legal."""

    provenance: dict[str, Any] = {"name": "dreamer"}  # noqa: RUF012

    def __init__(self) -> None:
        self.calls: list[tuple[int, Decoding | None, Allowed | None]] = []
        self.asked: list[tuple[int | None, bool]] = []  # horizon and film
        self.seeds: list[int] = []

    def asked_layout(self, decoding: Decoding, horizon: int | None = None) -> Layout:
        return layout("s-asa", horizon or 4, "compact", 8)

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding | None = None,
        generator: np.random.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
        *,
        film: bool = False,
    ) -> list[Imagination]:
        self.calls.append((len(boards), decoding, legal))
        self.asked.append((horizon, film))
        self.seeds.append(generator.bit_generator.seed_seq.entropy if generator else -1)
        allowed = legal or [list(board.legal_moves) for board in boards]
        return [self.one(board, decoding or Decoding(), own) for board, own in zip(boards, allowed, strict=True)]

    def one(self, board: chess.Board, decoding: Decoding, own: Sequence[chess.Move]) -> Imagination:
        (found,) = Handmade().evaluate([board])
        shares = {move: found.priors[move] for move in own}
        total = sum(shares.values())
        move = max(shares, key=lambda one: shares[one])
        chance = random.Random(board.fen() + move.uci())
        dream, plies = board.copy(stack=False), []
        for _ in range(3):
            dream.push(move)
            plies.append(Ply(move.uci(), True, dream.fen(), None, True))
            if not any(dream.legal_moves):
                break
            move = chance.choice(list(dream.legal_moves))
        plies.append(Ply("a1h8", False, None, "no position", False))
        return Imagination(
            root=board.fen(),
            move=str(plies[0].move),
            probabilities={one.uci(): share / total for one, share in shares.items()},
            line=tuple(plies),
            value=0.6,
            steps=decoding.steps,
            evaluations=decoding.steps * decoding.imaginations,
        )


def _mock_agents() -> dict[str, Agent]:
    hand, world, quick = Handmade(), World(), Settings(simulations=12)
    return {
        "s-a": PolicyAgent(hand),
        "s-a warm": PolicyAgent(hand, temperature=1.0),
        "s-v": StateValueAgent(hand),
        "sa-v": ActionValueAgent(GainActionValue()),
        "mcts": SearchAgent(Mcts(hand, Rules(), quick)),
        "mcts paper": SearchAgent(Mcts(hand, Rules(), replace(PAPER, simulations=8)), temperature=1.0),
        "mcts-as-published": SearchAgent(Mcts(hand, Rules(), replace(AS_PUBLISHED, simulations=8))),
        "search mcts imagined": SearchAgent(Mcts(world, Imagined(world), quick)),
        "search minimax rules": SearchAgent(Minimax(hand, Rules(), (3, 2))),
        "search minimax imagined": SearchAgent(Minimax(world, Imagined(world), (3, 2, 1))),
        "search rollout rules": SearchAgent(Rollout(hand, Rules())),
        "search rollout imagined": SearchAgent(Rollout(world, Imagined(world))),
        "search weak": SearchAgent(Minimax(hand, Rules(), (2,)), strength=30),
        "diffusearch": ImaginingAgent(Dreamer()),
        "diffusearch weak": ImaginingAgent(Dreamer(), strength=30),
        "random": RandomAgent(),
        "greedy-material": GreedyMaterialAgent(),
    }


MOCKS = tuple(_mock_agents())


@pytest.fixture(params=MOCKS)
def mock_agent(request: pytest.FixtureRequest) -> Agent:
    """Every agent in turn."""
    return _mock_agents()[request.param]


@pytest.fixture
def dreamer() -> Dreamer:
    return Dreamer()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def gain_action_value() -> GainActionValue:
    return GainActionValue()


RUNS: dict[str, dict[str, Any]] = {
    "paper": {"model": {"horizon": 4}},  # trained only at its whole horizon, without values: the paper's kind of run
    "values": {"model": {"horizon": 4, "root_value": True}},
    "mixed": {"model": {"horizon": 4, "root_value": True}, "horizons": [0.5, 0, 0, 0.5]},
    "s-a": {"model": {"paradigm": "s-a", "horizon": 1}},
    "s-v": {"model": {"paradigm": "s-v", "horizon": 1}},
    "sa-v": {"model": {"paradigm": "sa-v", "horizon": 1}},
    "direct": {"model": {"horizon": 4}, "process": {"kind": "direct"}},
    "autoregressive": {"model": {"horizon": 2}, "process": {"kind": "autoregressive"}, "attention": "causal"},
}


@pytest.fixture(scope="session")
def run_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of untrained runs of one layer, by the names above."""
    out = {}
    for name, tables in RUNS.items():
        trunk = {"layers": 1, "width": 16, "heads": 2, "attention": tables.get("attention", "prefix")}
        model = {"encoding": "compact", "patch": 8, "head": "squares", "trunk": trunk} | tables["model"]
        rest = {key: value for key, value in tables.items() if key not in ("model", "attention")}
        recipe = recipe_from_dict({"name": name, "model": model} | rest)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            net = Denoiser(recipe.model)
        out[name] = tmp_path_factory.mktemp(name)
        (out[name] / "recipe.toml").write_text(recipe_text(recipe))
        save_tensors(out[name] / "weights.safetensors", dict(net.named_parameters()), {})
    return out


ENGINE = '''"""A UCI engine made for trouble: what it does on `go` is in the file beside it."""
import pathlib, sys
script = pathlib.Path(__file__).with_suffix(".plan")
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "uci":
        print("id name trouble\\noption name Level type spin default 1 min 0 max 5\\nuciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        first, _, rest = script.read_text().partition("\\n")
        script.write_text(rest or first)
        if first == "crash":
            sys.exit(3)
        if first == "silence":
            continue
        print("info depth 1 score cp 20 nodes 7 pv", first, "\\nbestmove", first, flush=True)
    elif word == "quit":
        break
'''


@pytest.fixture
def trouble(tmp_path: Path, program: Callable[..., str]) -> Callable[[str], str]:
    """An engine that does on each `go` what the next line of a plan says: crash, silence or a move; the last stays."""

    def make(plan: str) -> str:
        path = tmp_path / "trouble.py"
        path.write_text(ENGINE, encoding="utf-8")
        path.with_suffix(".plan").write_text(plan)
        return program(tmp_path / "trouble", path)

    return make
