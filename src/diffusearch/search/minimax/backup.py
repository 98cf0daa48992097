"""Backup: the value of a first move from the values behind it, in log odds of the player at the root.

- At the opponent's turn the minimum over the followed moves counts.
- At the player's turn the mean of the node's own value and the maximum over the followed moves: a best move that is
  only predicted counts half.
- Leaves count as they are evaluated, ends of the game by the rules.
The score of a move, for the side that plays it, is
    log prior + value weight * backed-up log odds
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.search.minimax.tree import MinimaxNode


def backed_up(parent: MinimaxNode, node: MinimaxNode | None) -> float:
    """The player's log odds behind a move. Where no valid state was predicted the parent's own odds stand."""
    if node is None:
        return parent.odds
    if not node.children:
        return node.odds
    behind = [backed_up(node, child) for child in node.children.values()]
    return (node.odds + max(behind)) / 2 if node.board.turn == node.player else min(behind)


def scores(node: MinimaxNode, value_weight: float) -> npt.NDArray[np.float64]:
    """The scores of the followed moves of a node, in their order, for the side to move there."""
    priors = np.array([node.priors[move] for move in node.children])
    odds = np.array([backed_up(node, child) for child in node.children.values()])
    own = odds if node.board.turn == node.player else -odds
    found: npt.NDArray[np.float64] = np.log(np.maximum(priors, 1e-12)) + value_weight * own
    return found
