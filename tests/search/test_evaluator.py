"""Evaluators: a policy and a value joined to one, log odds, and the handmade one."""

from __future__ import annotations

import math
from typing import Any

import chess
import pytest

from diffusearch.search.evaluator import DOUBT, PolicyAndValue, log_odds, probability
from diffusearch.search.handmade import Handmade, balance, gain
from diffusearch.search.mcts.node import Tree
from diffusearch.search.mcts.search import search
from diffusearch.search.mcts.settings import Settings

TAKES = "3qk3/8/8/3R4/8/8/8/4K3 w - - 0 1"


def test_priors_of_one_network_and_values_of_another(hash_net: Any, counting: Any) -> None:
    policy, value = counting(hash_net), counting(Handmade())
    both = PolicyAndValue(policy, value)
    board = chess.Board(TAKES)
    (found,) = both.evaluate([board])
    assert found.priors == hash_net.one(board).priors
    assert found.value == Handmade().evaluate([board])[0].value != hash_net.one(board).value
    assert (policy.evaluated, value.evaluated) == ([1], [1])
    (found,) = both.evaluate([board], priors=False)
    assert found.priors == {}
    assert (policy.evaluated, value.evaluated) == ([1], [1, 1])  # the policy is not asked for a value alone


def test_one_network_and_the_same_one_twice_search_alike(hash_net: Any) -> None:
    settings = Settings(simulations=50)
    one, two = (Tree(chess.Board(), settings.conventions) for _ in range(2))
    search([one], hash_net, settings)
    search([two], PolicyAndValue(hash_net, hash_net), settings)
    assert one.root.visits.tolist() == two.root.visits.tolist()


@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.9, 0.999])
def test_log_odds_and_back(share: float) -> None:
    assert log_odds(share) == pytest.approx(math.log(share / (1 - share)))
    assert probability(log_odds(share)) == pytest.approx(share)


def test_a_network_is_never_certain() -> None:
    assert probability(log_odds(0.0)) == pytest.approx(DOUBT)
    assert probability(log_odds(1.0)) == pytest.approx(1.0 - DOUBT)


def test_the_handmade_evaluator_likes_captures_and_counts_material(hash_net: Any) -> None:
    board = chess.Board(TAKES)
    (found,) = Handmade().evaluate([board])
    takes = chess.Move.from_uci("d5d8")
    assert max(found.priors, key=lambda move: found.priors[move]) == takes
    assert sum(found.priors.values()) == pytest.approx(1.0)
    assert (gain(board, takes), balance(board)) == (900, 500 - 900)
    assert found.value is not None
    assert found.value < 0.5
    own = [chess.Move.from_uci("e1e2"), takes]
    (narrowed,) = Handmade().evaluate([board], [own])
    assert list(narrowed.priors) == own
    assert sum(narrowed.priors.values()) == pytest.approx(1.0)
    (mirrored,) = Handmade().evaluate([board.mirror()])
    assert mirrored.value == found.value
