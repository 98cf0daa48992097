"""MCTS: select, expand, back up, until simulations or seconds are spent; many trees share the networks' batches.

Each tree is searched as if it were alone: a batch only joins the leaves that the trees would have evaluated anyway.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from diffusearch.search.backup import backup, cancel
from diffusearch.search.expansion import Leaf, expand
from diffusearch.search.nets import Policy, Value
from diffusearch.search.node import Tree
from diffusearch.search.selection import ascend, descend
from diffusearch.search.settings import Settings


@dataclass
class Progress:
    """What one tree has spent."""

    tree: Tree
    left: int  # simulations to go
    evaluated: int = 0  # positions that the networks looked at


def search(
    trees: Sequence[Tree], policy: Policy, value: Value, settings: Settings, seconds: float | None = None
) -> list[int]:
    """Search all trees with the same settings; gives back how many positions were evaluated for each.

    With a limit of seconds the search stops after the batch in which they run out; every root is expanded at least.
    """
    deadline = None if seconds is None else time.perf_counter() + seconds
    all_progress = [Progress(tree, settings.simulations) for tree in trees]
    _expand_roots(all_progress, policy, value, settings)
    active = [one for one in all_progress if one.left > 0]
    while active:
        leaves: list[Leaf] = []
        for one in active:
            leaves += _gather(one, settings)
        expand(leaves, policy, value)
        for leaf in leaves:
            backup(leaf.path, leaf.node, settings)
        if deadline is not None and time.perf_counter() >= deadline:
            break
        active = [one for one in active if one.left > 0 and one.tree.root.exact is None]
    return [one.evaluated for one in all_progress]


def _expand_roots(all_progress: Sequence[Progress], policy: Policy, value: Value, settings: Settings) -> None:
    new = [one for one in all_progress if not one.tree.root.expanded]
    expand([Leaf(one.tree, [], one.tree.root, one.tree.board.copy()) for one in new], policy, value)
    for one in new:
        one.evaluated += 1
        one.left -= settings.conventions.root_counts


def _gather(one: Progress, settings: Settings) -> list[Leaf]:
    """Up to `parallel` new leaves of a tree. Finished games on the way are backed up at once."""
    leaves: list[Leaf] = []
    for _ in range(settings.parallel):
        if one.left <= 0 or one.tree.root.exact is not None:
            break
        path, node = descend(one.tree, settings)
        board = one.tree.board.copy() if node.exact is None else None
        ascend(one.tree, path)
        if board is None:
            backup(path, node, settings)
        elif any(leaf.node is node for leaf in leaves):
            cancel(path)  # on its way already: the batch is as large as this tree can make it now
            break
        else:
            leaves.append(Leaf(one.tree, path, node, board))
            one.evaluated += 1
        one.left -= 1
    return leaves
