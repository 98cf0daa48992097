"""s-a: the likeliest move, or a draw from the shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import chess
import pytest

from diffusearch.agents.base import Limits
from diffusearch.agents.policy import PolicyAgent
from diffusearch.inference.evaluation import Evaluation

SHARES = {"e2e4": 0.5, "d2d4": 0.3, "g1f3": 0.2}


class Known:
    """The same three moves, always."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def evaluate(self, boards: Sequence[chess.Board], legal: Any = None, *, priors: bool = True) -> list[Evaluation]:
        self.batches.append(len(boards))
        return [Evaluation({m: SHARES.get(m.uci(), 0.0) for m in board.legal_moves}, None) for board in boards]


def test_argmax_and_ranking() -> None:
    agent = PolicyAgent(Known())
    assert agent.play(chess.Board()).move.uci() == "e2e4"
    assert [one.move.uci() for one in agent.analyse(chess.Board(), lines=3)] == ["e2e4", "d2d4", "g1f3"]


def test_a_batch_is_one_call() -> None:
    net = Known()
    PolicyAgent(net).play_many([chess.Board()] * 7)
    assert net.batches == [7]


def test_temperature_draws_in_proportion_and_repeats_with_its_seed() -> None:
    moves = [PolicyAgent(Known(), temperature=1.0, seed=seed).play(chess.Board()).move.uci() for seed in range(1000)]
    counts = Counter(moves)
    for uci, share in SHARES.items():
        assert counts[uci] / 1000 == pytest.approx(share, abs=0.06)  # four standard errors
    assert set(counts) == set(SHARES)
    again = [PolicyAgent(Known(), temperature=1.0, seed=seed).play(chess.Board()).move.uci() for seed in range(50)]
    assert again == moves[:50]


def test_low_temperature_sharpens_and_the_dial_goes_from_any_move_to_the_best() -> None:
    def share_of_best(**options: float) -> float:
        made = [PolicyAgent(Known(), seed=seed, **options) for seed in range(300)]  # type: ignore[arg-type]
        return sum(agent.play(chess.Board()).move.uci() == "e2e4" for agent in made) / 300

    assert share_of_best(temperature=0.2) > 0.85
    assert share_of_best(strength=100) == 1.0
    assert share_of_best(strength=50) == pytest.approx(0.5, abs=0.12)
    assert share_of_best(strength=0) == pytest.approx(1 / 20, abs=0.06)


def test_moves_without_any_prior_are_alike() -> None:
    wanted = (chess.Move.from_uci("a2a3"), chess.Move.from_uci("a2a4"))
    decision = PolicyAgent(Known()).play(chess.Board(), Limits(moves=wanted))
    assert decision.probabilities == dict.fromkeys(decision.probabilities, 0.5)
