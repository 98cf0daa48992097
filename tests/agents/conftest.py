"""Agents without weights: networks by formula, a dreamer that imagines random futures, an engine that misbehaves."""

from __future__ import annotations

import random
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import chess
import pytest
import torch

from diffusearch.agents.base import Agent
from diffusearch.agents.imagining import Allowed, ImaginingAgent
from diffusearch.agents.policy import PolicyAgent
from diffusearch.agents.searching import SearchAgent
from diffusearch.agents.simple import GreedyMaterialAgent, RandomAgent
from diffusearch.agents.values import ActionValueAgent, StateValueAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.imagination import Imagination, Ply
from diffusearch.search.handmade import GainPolicy, MaterialValue, gain
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings
from diffusearch.tokens.values import win_probability


class GainActionValue:
    """q(s, a) from what the move takes."""

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [{move: win_probability(gain(board, move), None) for move in board.legal_moves} for board in boards]


class Dreamer:
    """Imagines: first moves as the policy says, then random legal moves, and at the end one that is not legal."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, Decoding, Allowed | None]] = []
        self.seeds: list[int] = []

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
    ) -> list[Imagination]:
        self.calls.append((len(boards), decoding, legal))
        self.seeds.append(generator.initial_seed() if generator else -1)
        allowed = legal or [list(board.legal_moves) for board in boards]
        return [self.one(board, decoding, own) for board, own in zip(boards, allowed, strict=True)]

    def one(self, board: chess.Board, decoding: Decoding, own: Sequence[chess.Move]) -> Imagination:
        (priors,) = GainPolicy().priors([board])
        shares = {move: priors[move] for move in own}
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
    quick = Settings(simulations=12)
    return {
        "s-a": PolicyAgent(GainPolicy()),
        "s-a warm": PolicyAgent(GainPolicy(), temperature=1.0),
        "s-v": StateValueAgent(MaterialValue()),
        "sa-v": ActionValueAgent(GainActionValue()),
        "mcts": SearchAgent(GainPolicy(), MaterialValue(), quick),
        "mcts paper": SearchAgent(GainPolicy(), MaterialValue(), replace(PAPER, simulations=8)),
        "mcts-as-published": SearchAgent(GainPolicy(), MaterialValue(), replace(AS_PUBLISHED, simulations=8)),
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
def gain_action_value() -> GainActionValue:
    return GainActionValue()


ENGINE = '''#!{python}
"""A UCI engine made for trouble: what it does on `go` is in the file beside it."""
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
def trouble(tmp_path: Path) -> Callable[[str], str]:
    """An engine that does on each `go` what the next line of a plan says: crash, silence or a move; the last stays."""

    def make(plan: str) -> str:
        path = tmp_path / "trouble.py"
        path.write_text(ENGINE.format(python=sys.executable))
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        path.with_suffix(".plan").write_text(plan)
        return str(path)

    return make
