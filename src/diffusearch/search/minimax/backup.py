"""Backup: the value of a first move from the values after it, in log odds of the player at the root.

Two ways, as a table of functions:
    half-max   the minimum at the opponent's turn; at the player's turn the mean of the node's own value and the
               maximum: a best move that is only predicted counts half
    line-mean  the mean of all values along a line; at the opponent's turn the line with the least mean counts, at the
               player's turn the one with the greatest: errors of single values average out
Leaves count as they are evaluated, ends of the game by the rules. The score of a move, for the side that plays it, is
    log prior + value weight * backed-up log odds
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from diffusearch.search.minimax.tree import MinimaxNode

# The player's log odds after a move: (parent, node after the move) -> log odds. Where no valid state was predicted
# (None) the parent's own odds stand.
Backup = Callable[[MinimaxNode, MinimaxNode | None], float]


def half_max(parent: MinimaxNode, node: MinimaxNode | None) -> float:
    """The minimum at the opponent's turn, half of the maximum at the player's."""
    if node is None:
        return parent.odds
    if not node.children:
        return node.odds
    later = [half_max(node, child) for child in node.children.values()]
    return (node.odds + max(later)) / 2 if node.board.turn == node.player else min(later)


def line_mean(parent: MinimaxNode, node: MinimaxNode | None) -> float:
    """The mean along the line that both sides choose by its mean."""
    total, count = _line(parent, node)
    return total / count


def _line(parent: MinimaxNode, node: MinimaxNode | None) -> tuple[float, int]:
    """The sum of the values along the chosen line from a node on, and their number."""
    if node is None:
        return parent.odds, 1
    if not node.children:
        return node.odds, 1
    lines = [_line(node, child) for child in node.children.values()]
    choose = max if node.board.turn == node.player else min
    total, count = choose(lines, key=lambda line: (node.odds + line[0]) / (1 + line[1]))
    return node.odds + total, 1 + count


BACKUPS: dict[str, Backup] = {"half-max": half_max, "line-mean": line_mean}


def scores(node: MinimaxNode, value_weight: float, backup: Backup) -> npt.NDArray[np.float64]:
    """The scores of the expanded moves of a node, in their order, for the side to move there."""
    priors = np.array([node.priors[move] for move in node.children])
    odds = np.array([backup(node, child) for child in node.children.values()])
    own = odds if node.board.turn == node.player else -odds
    found: npt.NDArray[np.float64] = np.log(np.maximum(priors, 1e-12)) + value_weight * own
    return found
