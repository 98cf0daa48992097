"""Backup: a leaf's value goes up the path, changing its perspective at every ply; certain results go up as certain."""

from __future__ import annotations

from diffusearch.search.mcts.node import Node
from diffusearch.search.mcts.selection import Path
from diffusearch.search.mcts.settings import Settings


def backup(path: Path, leaf: Node, settings: Settings) -> None:
    """Add one visit to each edge of the path. `leaf.value` is from the perspective of the side to move at the leaf."""
    other = settings.conventions.other
    value = leaf.value
    for node, edge in reversed(path):
        value = other(value)  # now from the perspective of the mover at `node`, who owns the edge
        node.waiting[edge] -= 1
        node.visits[edge] += 1
        node.total[edge] += value
        node.sum_visits += 1
        node.sum_total += value
        if settings.prove and prove(node, edge):
            assert node.exact is not None
            value = node.exact


def cancel(path: Path) -> None:
    """Take back a descent that ended at a leaf which is being evaluated already."""
    for node, edge in path:
        node.waiting[edge] -= 1


def prove(node: Node, edge: int) -> bool:
    """Whether the node's result is certain, now that the edge was visited (fair conventions only).

    A move to a position that is lost for the opponent wins. If all moves lead to certain results, the best is certain.
    `distance` counts plies to the end: the winner takes the shortest way, the loser the longest.
    """
    child = node.children[edge]
    assert child is not None
    if child.exact is None:
        return node.exact is not None
    mine = 1.0 - child.exact
    if mine == 1.0:
        if node.exact is None or child.distance + 1 < node.distance:
            node.exact, node.distance = 1.0, child.distance + 1
        return True
    if mine == 0.0:
        node.closed[edge] = True
    if node.exact is not None:
        return True
    known = [one for one in node.children if one is not None and one.exact is not None]
    if len(known) < len(node.children):
        return False
    best = max(1.0 - one.exact for one in known if one.exact is not None)
    node.exact = best
    node.distance = 1 + max(one.distance for one in known if one.exact is not None and 1.0 - one.exact == best)
    return True
