"""The principal variation after a first move: each side plays the expanded move with the best score (backup.py)."""

from __future__ import annotations

import math

import chess

from diffusearch.inference.imagination import Ply, predicted_ply
from diffusearch.search.minimax.backup import Backup, scores
from diffusearch.search.minimax.tree import MinimaxNode
from diffusearch.search.planner import Variation


def principal_variation(root: MinimaxNode, first: chess.Move, value_weight: float, backup: Backup) -> Variation:
    """The variation as deep as the tree; of a first move that was not expanded it is that move alone."""
    path: list[tuple[MinimaxNode, chess.Move]] = []
    likelihood = 0.0
    node, move = root, first
    while True:
        path.append((node, move))
        state = node.predicted.get(move)
        likelihood += math.log(max(node.priors[move], 1e-300)) + (state.log_probability if state else 0.0)
        child = node.children.get(move)
        if child is None or not child.children:
            break
        node, move = child, list(child.children)[int(scores(child, value_weight, backup).argmax())]
    plies = (lambda: tuple(_ply(node, move) for node, move in path)) if root.predicted else None
    return Variation(tuple(move for _, move in path), plies, likelihood)


def _ply(node: MinimaxNode, move: chess.Move) -> Ply:
    value = None if node.evaluation is None else node.evaluation.value
    return predicted_ply(node.board, move, node.predicted.get(move), value)
