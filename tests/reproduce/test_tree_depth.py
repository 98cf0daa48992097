"""The mean depth of a search's tree."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from diffusearch.agents.build import agent as build
from diffusearch.errors import UserError
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.reproduce.tree_depth import mean_depth, tree_depth
from diffusearch.search.mcts.node import Node


def grown(visits: int, *children: Node) -> Node:
    """A node whose edges were visited so often in all."""
    node = Node()
    priors = dict.fromkeys(list(chess.Board().legal_moves)[:2], 0.5)
    node.expand(priors, 0.5)
    node.sum_visits = visits
    for place, child in enumerate(children):
        node.children[place] = child
    return node


def test_a_simulation_is_as_deep_as_the_edges_that_it_visits() -> None:
    below = grown(1)
    assert mean_depth(grown(4, grown(2, below))) == pytest.approx(7 / 4)  # four, of these two, of these one go on
    assert mean_depth(grown(4, below, below)) == pytest.approx(5 / 4)  # a transposition counts once


def test_an_agent_without_a_tree_is_refused(actions: Path) -> None:
    with build("random") as player, pytest.raises(UserError, match=r"'random' grows no tree: measure .* of mcts"):
        tree_depth(player, read_positions(actions))


def test_a_search_is_as_deep_as_its_simulations_say(actions: Path) -> None:
    """One simulation a move looks one ply deep, with any weights."""
    counted: list[int] = []
    with build("mcts:s-a,s-v?simulations=1") as player:
        found = tree_depth(player, read_positions(actions), counted.append)
    assert found == {"n": 2, "mean_depth": 1.0}
    assert counted == [1, 1]
