"""Expansion: states are predicted where the rules do not make them, and a batch of new leaves is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from diffusearch.search.dynamics import Dynamics
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.mcts.node import Node, Tree
from diffusearch.search.mcts.selection import Path


@dataclass(frozen=True)
class Leaf:
    """A node on its way to the network, and the path along which its value goes back."""

    tree: Tree
    path: Path
    node: Node
    board: chess.Board | None  # a copy with history; None: to be predicted


def expand(leaves: Sequence[Leaf], evaluator: Evaluator, dynamics: Dynamics) -> int:
    """Evaluate all leaves in one batch, after one batch that predicts missing states; gives the network calls.

    A root that is restricted to some moves takes only their priors.
    """
    missing = [leaf for leaf in leaves if leaf.board is None]
    _predict(missing, dynamics)
    open_leaves = [leaf for leaf in leaves if leaf.node.exact is None and not leaf.node.dead]
    boards = [board for leaf in open_leaves if (board := leaf.board or leaf.node.board) is not None]
    if boards:
        for leaf, found in zip(open_leaves, evaluator.evaluate(boards), strict=True):
            only = leaf.tree.only if leaf.node is leaf.tree.root else ()
            assert found.value is not None  # the planner refuses evaluators without values
            leaf.node.expand({move: found.priors[move] for move in only} if only else found.priors, found.value)
            if leaf.node.board is not None:
                leaf.node.evaluation = found
    return bool(missing) + bool(boards)


def _predict(leaves: Sequence[Leaf], dynamics: Dynamics) -> None:
    """The states of leaves. One that is no valid position leaves the value as it was before the move."""
    if not leaves:
        return
    edges = [leaf.path[-1] for leaf in leaves]
    boards = [board for parent, _ in edges if (board := parent.board) is not None]
    successors = dynamics.step(
        boards, [parent.evaluation for parent, _ in edges], [parent.moves[edge] for parent, edge in edges]
    )
    for leaf, (parent, _), successor in zip(leaves, edges, successors, strict=True):
        node, conventions = leaf.node, leaf.tree.conventions
        node.board, node.predicted = successor.board, successor.predicted
        if successor.board is None:
            node.dead, node.value = True, conventions.other(parent.value)
        elif successor.outcome is not None:
            node.exact = node.value = conventions.value(successor.outcome)
