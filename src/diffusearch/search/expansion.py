"""Expansion: the networks look at a batch of new leaves, of one tree or of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from diffusearch.search.nets import Policy, Value, ask
from diffusearch.search.node import Node, Tree
from diffusearch.search.selection import Path


@dataclass(frozen=True)
class Leaf:
    """A position on its way to the networks, and where its value will be sent back to."""

    tree: Tree
    path: Path
    node: Node
    board: chess.Board  # a copy with history


def expand(leaves: Sequence[Leaf], policy: Policy, value: Value) -> None:
    """One call of the networks for all leaves. A root that is restricted to some moves takes only their priors."""
    if not leaves:
        return
    boards = [leaf.board for leaf in leaves]
    priors, values = ask(boards, policy, value)
    for leaf, prior, worth in zip(leaves, priors, values.tolist(), strict=True):
        only = leaf.tree.only if leaf.node is leaf.tree.root else ()
        leaf.node.expand({move: prior[move] for move in only} if only else prior, worth)
