"""MCTS: select, expand, back up, until simulations or seconds are spent; many trees share the network's batches.

Each tree is searched as if it were alone: a batch only joins the leaves that the trees would have evaluated anyway.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from diffusearch.search.dynamics import Dynamics, Rules
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.mcts.backup import backup, cancel
from diffusearch.search.mcts.expansion import Leaf, expand
from diffusearch.search.mcts.node import Tree
from diffusearch.search.mcts.selection import descend
from diffusearch.search.mcts.settings import Settings


@dataclass
class Progress:
    """What one tree has spent."""

    tree: Tree
    left: int  # simulations to go
    evaluated: int = 0  # positions that the network evaluated, and states that it predicted
    calls: int = 0  # network calls, shared with the other trees


def search(
    trees: Sequence[Tree],
    evaluator: Evaluator,
    settings: Settings,
    seconds: float | None = None,
    dynamics: Dynamics = Rules(),
) -> list[Progress]:
    """Search all trees with the same settings; gives back what was spent on each.

    With a limit of seconds the search stops after the batch in which they run out; every root is expanded at least.
    """
    deadline = None if seconds is None else time.perf_counter() + seconds
    all_progress = [Progress(tree, settings.simulations) for tree in trees]
    _expand_roots(all_progress, evaluator, dynamics, settings)
    active = [one for one in all_progress if one.left > 0]
    while active:
        gathered = [(one, _gather(one, settings)) for one in active]
        leaves = [leaf for _, own in gathered for leaf in own]
        made = expand(leaves, evaluator, dynamics)
        for one, own in gathered:
            one.calls += made if own else 0
            one.evaluated += sum((leaf.board is None) + leaf.node.expanded for leaf in own)
        for leaf in leaves:
            backup(leaf.path, leaf.node, settings)
        if deadline is not None and time.perf_counter() >= deadline:
            break
        active = [one for one in active if one.left > 0 and one.tree.root.exact is None]
    return all_progress


def _expand_roots(
    all_progress: Sequence[Progress], evaluator: Evaluator, dynamics: Dynamics, settings: Settings
) -> None:
    new = [one for one in all_progress if not one.tree.root.expanded]
    made = expand([Leaf(one.tree, [], one.tree.root, one.tree.board.copy()) for one in new], evaluator, dynamics)
    for one in new:
        one.evaluated += 1
        one.calls += made
        one.left -= settings.conventions.root_counts


def _gather(one: Progress, settings: Settings) -> list[Leaf]:
    """Up to `parallel` new leaves of a tree. Finished games on the way are backed up at once."""
    leaves: list[Leaf] = []
    for _ in range(settings.parallel):
        if one.left <= 0 or one.tree.root.exact is not None:
            break
        path, node = descend(one.tree, settings)
        ended = node.exact is not None or node.dead
        board = None if ended else one.tree.leaf_board(node)
        one.tree.ascend(len(path))
        if ended:
            backup(path, node, settings)
        elif any(leaf.node is node for leaf in leaves):
            cancel(path)  # on its way already: the batch is as large as this tree can make it now
            break
        else:
            leaves.append(Leaf(one.tree, path, node, board))
        one.left -= 1
    return leaves
