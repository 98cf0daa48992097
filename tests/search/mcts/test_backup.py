"""Backup: signs of both conventions, and proofs."""

from __future__ import annotations

import chess
import pytest

from diffusearch.search.mcts.backup import backup, cancel
from diffusearch.search.mcts.node import Node
from diffusearch.search.mcts.selection import Path
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings

A, B = chess.Move.from_uci("a2a3"), chess.Move.from_uci("b2b3")


def chain(leaf: Node, length: int) -> Path:
    """`length` expanded nodes with two moves each, one under another along the first move, the leaf at the end."""
    nodes = [Node() for _ in range(length)]
    for node in nodes:
        node.expand({A: 0.6, B: 0.4}, 0.5)
        node.waiting[0] = 1
    for node, below in zip(nodes, [*nodes[1:], leaf], strict=True):
        node.children[0] = below
    return [(node, 0) for node in nodes]


def leaf_of(value: float) -> Node:
    leaf = Node()
    leaf.expand({A: 0.6, B: 0.4}, value)
    return leaf


def test_fair_values_change_sides_at_every_ply() -> None:
    leaf = leaf_of(0.8)  # good for the side to move at the leaf
    path = chain(leaf, 3)
    backup(path, leaf, PAPER)
    assert [node.total[0] for node, _ in path] == pytest.approx([0.2, 0.8, 0.2])  # bad for who led there
    assert all(node.visits[0] == 1 and node.waiting[0] == 0 and node.sum_visits == 1 for node, _ in path)


def test_published_values_are_negated_at_every_ply() -> None:
    leaf = leaf_of(0.8)
    path = chain(leaf, 3)
    backup(path, leaf, AS_PUBLISHED)
    assert [node.total[0] for node, _ in path] == pytest.approx([-0.8, 0.8, -0.8])


def test_a_delivered_mate_wins_fairly_and_loses_as_published() -> None:
    fair, published = PAPER.conventions, AS_PUBLISHED.conventions
    assert fair.other(fair.mated) == 1.0
    assert published.other(published.mated) == -1.0


def test_a_mate_proves_the_node_above_won_and_the_one_above_that_closed() -> None:
    mated = Node(exact=0.0)
    path = chain(mated, 2)
    backup(path, mated, Settings())
    (upper, _), (lower, _) = path
    assert lower.exact == 1.0
    assert lower.distance == 1
    assert upper.exact is None
    assert upper.closed.tolist() == [True, False]
    assert lower.total[0] == 1.0
    assert upper.total[0] == 0.0


def test_a_node_is_lost_when_all_its_moves_are_and_drawn_when_the_best_is_a_draw() -> None:
    won = Node(exact=1.0)
    won.distance = 3
    path = chain(won, 1)
    (node, _) = path[0]
    backup(path, won, Settings())
    other = Node(exact=1.0)
    other.distance = 5
    node.children[1] = other
    node.waiting[1] = 1
    backup([(node, 1)], other, Settings())
    assert node.exact == 0.0
    assert node.distance == 6

    drawn = Node(exact=0.5)
    path = chain(drawn, 1)
    (node, _) = path[0]
    backup(path, drawn, Settings())
    assert node.exact is None
    node.children[1] = won
    node.waiting[1] = 1
    backup([(node, 1)], won, Settings())
    assert node.exact == 0.5


def test_nothing_is_proven_where_it_is_switched_off() -> None:
    mated = Node(exact=0.0)
    path = chain(mated, 1)
    backup(path, mated, PAPER)
    assert path[0][0].exact is None
    assert path[0][0].total[0] == 1.0


def test_cancel_takes_back_what_descending_marked() -> None:
    path = chain(leaf_of(0.5), 2)
    cancel(path)
    assert all(node.waiting[0] == 0 and node.visits[0] == 0 for node, _ in path)
