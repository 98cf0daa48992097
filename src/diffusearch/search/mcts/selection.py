"""Selection: from the root down the edges with the highest Q + U until a position that is not yet known."""

from __future__ import annotations

import numpy as np

from diffusearch.search.mcts.node import Floats, Node, Tree
from diffusearch.search.mcts.settings import Settings

Path = list[tuple[Node, int]]  # the edges from the root down


def scores(node: Node, settings: Settings) -> Floats:
    """Q(s, a) + U(s, a) for all moves; shape [moves].

    U = cpuct P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a)), as in the paper. A simulation under way counts as a visit
    that was lost (W unchanged, and 0 is a loss): the next leaf of the batch is looked for elsewhere.
    """
    visits = node.visits + node.waiting
    seen = visits > 0
    means = np.full(len(visits), first_play(node, settings))
    np.divide(node.total, visits, out=means, where=seen)
    bonus = settings.cpuct * np.sqrt(visits.sum())
    found: Floats = means + bonus * node.prior / (1 + visits)
    if node.closed.any() and not node.closed.all():
        found[node.closed] = -np.inf
    return found


def first_play(node: Node, settings: Settings) -> float:
    """First-play urgency: what an unvisited move is taken to be worth to the mover.

    Either a fixed value, or the node's mean minus reduction * sqrt(prior mass visited): the more of the policy's
    candidates have been tried, the lower the value given to the rest.
    """
    if settings.fpu is not None:
        return settings.fpu
    return node.mean() - settings.reduction * float(np.sqrt(node.prior[node.visits > 0].sum()))


def descend(tree: Tree, settings: Settings) -> tuple[Path, Node]:
    """Walk down to a leaf; the board is pushed along and every edge on the way counts one more simulation under way.

    The leaf is finished or proven (exact), or not yet expanded. `Tree.ascend` takes the board back.
    """
    path: Path = []
    node = tree.root
    while node.expanded and (node.exact is None or node is tree.root):
        edge = int(scores(node, settings).argmax())  # the first of equals: the likeliest move
        node.waiting[edge] += 1
        path.append((node, edge))
        node = tree.descend(node, edge)
    return path, node
