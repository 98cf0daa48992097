"""Expansion: the networks look at a batch of new leaves, of one tree or of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np

from diffusearch.search.nets import Policy, Value
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
    """One call of each network for all leaves. Priors are taken over the node's moves and made to sum to 1."""
    if not leaves:
        return
    boards = [leaf.board for leaf in leaves]
    priors = policy.priors(boards)
    values = np.asarray(value.values(boards), dtype=np.float64)
    for leaf, prior, worth in zip(leaves, priors, values.tolist(), strict=True):
        moves = leaf.node.moves
        mass = sum(prior[move] for move in moves)
        # A root restricted to moves without any prior: they are alike.
        shares = {move: prior[move] / mass if mass > 0.0 else 1.0 / len(moves) for move in moves}
        leaf.node.expand(shares, worth)
