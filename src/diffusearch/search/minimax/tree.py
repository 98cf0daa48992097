"""The tree of fixed widths: 4x2 expands the 4 likeliest first moves and the 2 likeliest replies to each.

All positions of a level, of all roots, are evaluated in one batch, and their successors are made in one batch. At the
true root the rules say which moves end the game (repetition and fifty moves included, from the game's history); below
it the dynamics do. A tree can be grown on to wider or deeper widths: what it has is not computed again. First moves
that are pruned (`Pruning`) are not grown deeper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import prod
from operator import itemgetter

import chess

from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.search.dynamics import Dynamics, Successor, successors
from diffusearch.search.evaluator import Evaluator, log_odds
from diffusearch.search.outcome import Outcome

Widths = tuple[int, ...]  # moves that are expanded at each ply


@dataclass
class MinimaxNode:
    """A position of the tree."""

    board: chess.Board
    player: chess.Color  # who moves at the root
    odds: float = 0.0  # the player's log odds of winning: the network's, or the rules' where the game is over
    over: bool = False
    evaluation: Evaluation | None = None  # None at the leaves
    looks: int = 0  # times that the network evaluated it: 2 where a leaf was grown on
    children: dict[chess.Move, MinimaxNode | None] = field(default_factory=dict)  # None: no valid state was predicted
    predicted: dict[chess.Move, PredictedState] = field(default_factory=dict)  # empty where the rules make the states

    @property
    def priors(self) -> dict[chess.Move, float]:
        return self.evaluation.priors if self.evaluation else {}

    @property
    def evaluations(self) -> int:
        """Positions that the network evaluated and states that it predicted, from here on."""
        total = self.looks + len(self.predicted)
        return total + sum(child.evaluations for child in self.children.values() if child)

    @property
    def calls(self) -> int:
        """Network calls in which positions from here on have a part."""
        below = [child.calls for child in self.children.values() if child and not child.over]
        return 1 + bool(self.predicted) + max(below, default=0)


def calls(widths: Widths, *, predicted: bool = True) -> int:
    """Network calls of a whole tree: calls = 2 x plies + 1 with predicted states, plies + 1 by the rules.

    Each ply is one call for the evaluations and, with predicted states, one for the next states. The leaves are one.
    """
    return (2 if predicted else 1) * len(widths) + 1


def evaluations(widths: Widths, *, predicted: bool = True) -> int:
    """Evaluations of a whole tree (fewer where moves are few), with predicted states counted or states by the rules."""
    total = nodes = 1
    for width in widths:
        nodes *= width
        total += (2 if predicted else 1) * nodes
    return total


def further(kept: Widths, widths: Widths, *, predicted: bool = True) -> int:
    """Evaluations, at most, to grow a tree on to widths that hold its own; deeper ones look at its leaves again."""
    has = evaluations(kept, predicted=predicted)
    return evaluations(widths, predicted=predicted) - has + (prod(kept) if len(widths) > len(kept) else 0)


def holds(widths: Widths, kept: Widths) -> bool:
    """Whether a tree of these widths has all positions of a tree of the kept ones."""
    return len(widths) >= len(kept) and all(one >= other for one, other in zip(widths, kept, strict=False))


# A root whose tree is evaluated down to a ply, and the ply -> the first moves that are grown deeper; others are pruned.
Pruning = Callable[[MinimaxNode, int], Collection[chess.Move]]


def all_moves(root: MinimaxNode, plies: int) -> Collection[chess.Move]:
    """All first moves: the whole tree."""
    return root.children


def grow(
    evaluator: Evaluator,
    dynamics: Dynamics,
    boards: Sequence[chess.Board],
    legal: Allowed | None,
    widths: Widths,
    unpruned: Pruning = all_moves,
) -> list[MinimaxNode]:
    """The roots of the trees; `legal` narrows the first moves of each board."""
    roots = [MinimaxNode(board, board.turn) for board in boards]
    grow_on(evaluator, dynamics, roots, legal, widths, unpruned)
    return roots


def grow_on(
    evaluator: Evaluator,
    dynamics: Dynamics,
    roots: list[MinimaxNode],
    legal: Allowed | None,
    widths: Widths,
    unpruned: Pruning = all_moves,
) -> int:
    """Give trees what these widths have more than they; the number of network calls (none for states by the rules)."""
    made, level = 0, roots
    for ply, width in enumerate(widths):
        if new := [node for node in level if node.evaluation is None]:
            made += 1
            found = evaluator.evaluate([node.board for node in new], legal if ply == 0 else None)
            for node, evaluation in zip(new, found, strict=True):
                node.evaluation = evaluation
                _valued(node, evaluation)
        if ply:
            grown = [root.children[move] for root in roots for move in unpruned(root, ply)]
            level = [node for child in grown for node in _at(child, ply - 1)]
        edges = [(node, move) for node in level for move in _likeliest(node, width) if move not in node.children]
        if edges:
            made += _add_children(dynamics, edges, at_root=ply == 0)
        level = [node for root in level for node in _at(root, 1)]
    if leaves := [node for node in level if not node.looks]:
        made += 1
        found = evaluator.evaluate([node.board for node in leaves], priors=False)
        for node, evaluation in zip(leaves, found, strict=True):
            _valued(node, evaluation)
    return made


def _at(node: MinimaxNode | None, plies: int) -> list[MinimaxNode]:
    """The positions so many plies after a node in which the game goes on."""
    if node is None or node.over:
        return []
    return [node] if not plies else [found for child in node.children.values() for found in _at(child, plies - 1)]


def _likeliest(node: MinimaxNode, width: int) -> list[chess.Move]:
    return [move for move, _ in nlargest(width, node.priors.items(), key=itemgetter(1))]


def _add_children(dynamics: Dynamics, edges: list[tuple[MinimaxNode, chess.Move]], at_root: bool) -> int:
    """The states after moves; 1 if the network was called for them."""
    boards, evaluations = [node.board for node, _ in edges], [node.evaluation for node, _ in edges]
    found = successors(dynamics, boards, evaluations, [move for _, move in edges], at_root=at_root)
    for (node, move), successor in zip(edges, found, strict=True):
        if successor.predicted is not None:
            node.predicted[move] = successor.predicted
        node.children[move] = _successor_node(node, successor)
    return int(dynamics.predicts)


def _valued(node: MinimaxNode, evaluation: Evaluation) -> None:
    assert evaluation.value is not None  # the planner refuses evaluators without values
    node.odds = _players(node, evaluation.value)
    node.looks += 1


def _successor_node(node: MinimaxNode, successor: Successor) -> MinimaxNode | None:
    """The node of a successor; None where it is no valid state."""
    board = successor.board
    if board is None:
        return None
    if successor.outcome is None:
        return MinimaxNode(board, node.player)
    mated = 0.0 if board.turn == node.player else 1.0
    return MinimaxNode(board, node.player, log_odds(mated if successor.outcome is Outcome.MATED else 0.5), over=True)


def _players(node: MinimaxNode, value: float) -> float:
    """The log odds of the root's player, where `value` is the win probability of the side to move."""
    return log_odds(value if node.board.turn == node.player else 1.0 - value)
