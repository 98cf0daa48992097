"""Play: from the root's visits to probabilities of moves, principal variations and values."""

from __future__ import annotations

import numpy as np

from diffusearch.search.mcts.node import Floats, Node
from diffusearch.search.mcts.settings import Settings


def shares(root: Node) -> Floats:
    """pi(a) for temperature 1: visits in proportion; shape [moves], in the order of `root.moves`.

    Proven results come before visits: a proven win is the only move, a proven loss is out while there is another move.
    Before any visit the priors stand in.
    """
    if root.exact == 1.0 and root.distance > 0:
        best = [index for index, child in enumerate(root.children) if child is not None and child.exact == 0.0]
        quickest = min(best, key=lambda index: _distance(root, index))
        return _only(root, quickest)
    weights: Floats = root.visits.astype(np.float64)
    if root.closed.all():  # lost whatever is played: the longest resistance
        longest = max(range(len(root.moves)), key=lambda index: _distance(root, index))
        return _only(root, longest)
    weights[root.closed] = 0.0
    if weights.sum() == 0.0:
        weights = np.where(root.closed, 0.0, root.prior)
    if weights.sum() == 0.0:
        weights = np.where(root.closed, 0.0, 1.0)
    out: Floats = weights / weights.sum()
    return out


def ranking(root: Node, settings: Settings) -> list[int]:
    """The edges best first: by probability, then by value, then by prior."""
    share = shares(root)
    worth = [edge_value(root, index, settings) for index in range(len(root.moves))]
    return sorted(range(len(root.moves)), key=lambda index: (-share[index], -worth[index], index))


def edge_value(node: Node, index: int, settings: Settings) -> float:
    """The mover's value of a move: certain, the mean of its visits, or the node's own where it was never tried."""
    child = node.children[index]
    if child is not None and child.exact is not None:
        return settings.conventions.other(child.exact)
    if node.visits[index] == 0:
        return node.value
    return float(node.total[index] / node.visits[index])


def principal_edges(root: Node, index: int, settings: Settings) -> list[tuple[Node, int]]:
    """The edge and those that follow if both sides take the most visited moves."""
    path = [(root, index)]
    node = root.children[index]
    while node is not None and node.expanded and node.sum_visits > 0:
        best = ranking(node, settings)[0]
        path.append((node, best))
        node = node.children[best]
    return path


def _only(root: Node, index: int) -> Floats:
    share: Floats = np.zeros(len(root.moves))
    share[index] = 1.0
    return share


def _distance(root: Node, index: int) -> int:
    child = root.children[index]
    return 0 if child is None else child.distance
