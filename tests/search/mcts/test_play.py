"""From visits to shares, lines and values; proven results come first."""

from __future__ import annotations

import chess
import pytest

from diffusearch.search.mcts.node import Node
from diffusearch.search.mcts.play import edge_value, principal_edges, ranking, shares
from diffusearch.search.mcts.settings import Settings

MOVES = [chess.Move.from_uci(uci) for uci in ("a2a3", "b2b3", "c2c3")]


def root(visits: list[int], total: list[float]) -> Node:
    made = Node()
    made.expand(dict(zip(MOVES, [0.5, 0.3, 0.2], strict=True)), 0.6)
    made.visits[:] = visits
    made.total[:] = total
    made.sum_visits, made.sum_total = sum(visits), sum(total)
    return made


def certain(value: float, distance: int) -> Node:
    made = Node(exact=value)
    made.distance = distance
    return made


def test_shares_are_visits_and_priors_before_any() -> None:
    assert shares(root([6, 3, 1], [3.0, 2.0, 0.1])).tolist() == pytest.approx([0.6, 0.3, 0.1])
    assert shares(root([0, 0, 0], [0, 0, 0])).tolist() == pytest.approx([0.5, 0.3, 0.2])


def test_equal_visits_are_ranked_by_value() -> None:
    assert ranking(root([4, 4, 2], [1.0, 3.0, 2.0]), Settings()) == [1, 0, 2]


def test_a_proven_loss_is_out_however_often_it_was_visited() -> None:
    node = root([8, 2, 0], [4.0, 0.4, 0.0])
    node.closed[0] = True
    node.children[0] = certain(1.0, 2)  # won for the opponent
    assert shares(node).tolist() == [0.0, 1.0, 0.0]
    assert edge_value(node, 0, Settings()) == 0.0
    node.closed[1] = True
    assert shares(node).tolist() == [0.0, 0.0, 1.0]  # nothing visited is left: the prior stands in


def test_the_quickest_proven_win_and_the_longest_proven_loss() -> None:
    node = root([8, 2, 1], [4.0, 1.0, 1.0])
    node.children[1], node.children[2] = certain(0.0, 4), certain(0.0, 2)
    node.exact, node.distance = 1.0, 3
    assert shares(node).tolist() == [0.0, 0.0, 1.0]

    lost = root([8, 2, 1], [0.0, 0.0, 0.0])
    for index, distance in enumerate((1, 5, 3)):
        lost.children[index] = certain(1.0, distance)
        lost.closed[index] = True
    lost.exact = 0.0
    assert shares(lost).tolist() == [0.0, 1.0, 0.0]


def test_values_and_lines() -> None:
    node = root([6, 3, 0], [3.0, 2.0, 0.0])
    assert edge_value(node, 0, Settings()) == pytest.approx(0.5)
    assert edge_value(node, 2, Settings()) == pytest.approx(0.6)  # never tried: what the node itself is worth
    below = root([1, 4, 0], [0.5, 2.0, 0.0])
    node.children[0] = below
    assert principal_edges(node, 0, Settings()) == [(node, 0), (below, 1)]
    assert principal_edges(node, 1, Settings()) == [(node, 1)]
