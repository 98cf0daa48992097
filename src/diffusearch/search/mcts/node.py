"""A node of the search tree and the tree itself: edge statistics as arrays, N, W and P of all moves side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.inference.evaluation import Evaluation, PredictedState
from diffusearch.search.mcts.conventions import Conventions
from diffusearch.search.outcome import outcome, value_after

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]


class Node:
    """A position s. Arrays have one entry for each legal move.

    Values of edges are from the perspective of the mover at s.
    """

    __slots__ = (
        "board",
        "children",
        "closed",
        "dead",
        "distance",
        "evaluation",
        "exact",
        "expanded",
        "moves",
        "predicted",
        "prior",
        "sum_total",
        "sum_visits",
        "total",
        "value",
        "visits",
        "waiting",
    )

    def __init__(self, exact: float | None = None) -> None:
        self.moves: list[chess.Move] = []  # the legal ones, likeliest first; empty until expanded
        self.exact = exact  # value for the side to move if it is certain (the game is over, or proven), else None
        self.distance = 0  # plies to the end of the game where `exact` is known
        self.expanded = False  # whether the networks have looked at it
        self.value = 0.0 if exact is None else exact  # v(s) for the side to move
        self.sum_visits = 0  # sum of N(s, b) over b
        self.sum_total = 0.0  # sum of W(s, b) over b
        self.board: chess.Board | None = None  # the predicted position, in an imagined tree; None until it is predicted
        self.predicted: PredictedState | None = None  # all of what was predicted, also where it is no valid position
        self.evaluation: Evaluation | None = None  # of that state
        self.dead = False  # no valid state was predicted: the node keeps its value and has no children

    def expand(self, priors: Mapping[chess.Move, float], value: float) -> None:
        """Take in what the networks say. Moves are put in order of their priors, so the first is likeliest.

        Priors are made to sum to 1; where the policy gives all of them nothing (a restricted root) they are alike.
        """
        ranked = sorted(priors.items(), key=lambda item: -item[1])
        count = len(ranked)
        self.moves = [move for move, _ in ranked]
        self.prior: Floats = np.array([prior for _, prior in ranked])
        mass = self.prior.sum()
        self.prior = self.prior / mass if mass > 0.0 else np.full(count, 1.0 / count)
        self.visits: Counts = np.zeros(count, dtype=np.int32)  # N(s, a)
        self.total: Floats = np.zeros(count)  # W(s, a)
        self.waiting: Counts = np.zeros(count, dtype=np.int32)  # simulations under way through this edge
        self.closed: npt.NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)  # proven to lose
        self.children: list[Node | None] = [None] * count
        self.value = value
        self.expanded = True

    def mean(self) -> float:
        """The mean value of all that was seen from here on, its own evaluation included, for the side to move."""
        return (self.value + self.sum_total) / (1 + self.sum_visits)


def node_at(board: chess.Board, conventions: Conventions) -> Node:
    """The node of a position, finished by the rules or still to be expanded."""
    result = outcome(board, claims=conventions.claims)
    return Node() if result is None else Node(exact=conventions.value(result))


class Tree:
    """A search tree by the rules, with the board at its root (history included)."""

    def __init__(self, board: chess.Board, conventions: Conventions, moves: Sequence[chess.Move] = ()) -> None:
        """The root is never finished while it has legal moves: nobody needs to claim a draw. `moves` restricts it."""
        self.board = board.copy()
        self.conventions = conventions
        self.root = Node()
        self.only = tuple(moves)  # the root moves that are searched; empty = all
        self.merged: dict[str, Node] | None = {} if conventions.merge else None

    def descend(self, node: Node, edge: int) -> Node:
        """The node after an edge, made when it is first reached; the board is pushed along."""
        self.board.push(node.moves[edge])
        known = node.children[edge]
        if known is None:
            known = self._shared() or node_at(self.board, self.conventions)
            node.children[edge] = known
            if self.merged is not None:
                self.merged[self.board.fen()] = known
        return known

    def ascend(self, plies: int) -> None:
        """Take the board back so many plies."""
        for _ in range(plies):
            self.board.pop()

    def leaf_board(self, node: Node) -> chess.Board | None:
        """A copy of the board at a leaf; None where dynamics must predict it first."""
        return self.board.copy()

    def _shared(self) -> Node | None:
        return None if self.merged is None else self.merged.get(self.board.fen())

    def follow(self, board: chess.Board) -> bool:
        """Make a later position of the same game the root and keep its subtree; False if that cannot be done."""
        before, now = self.board.move_stack, board.move_stack
        if self.only or now[: len(before)] != before or self.board.root() != board.root():
            return False
        node = self.root
        for move in now[len(before) :]:
            if not node.expanded or move not in node.moves:
                return False
            following = node.children[node.moves.index(move)]
            if following is None:
                return False
            node = following
        if not node.expanded:  # also where the rules ended the game but the players went on
            return False
        return self._accept(node, board)

    def _accept(self, node: Node, board: chess.Board) -> bool:
        self.root, self.board = node, board.copy()
        return True


class ImaginedTree(Tree):
    """A search tree in which the network predicts the states; the rules end games only by a move of the root."""

    def __init__(self, board: chess.Board, conventions: Conventions, moves: Sequence[chess.Move] = ()) -> None:
        super().__init__(board, conventions, moves)
        self.root.board = self.board

    def descend(self, node: Node, edge: int) -> Node:
        known = node.children[edge]
        if known is None:
            end = value_after(self.board, node.moves[edge]) if node is self.root else None
            known = Node() if end is None else Node(exact=self.conventions.other(end))
            node.children[edge] = known
        return known

    def ascend(self, plies: int) -> None:
        """Nothing was pushed: every node has a board of its own."""

    def leaf_board(self, node: Node) -> chess.Board | None:
        return node.board

    def _accept(self, node: Node, board: chess.Board) -> bool:
        """The subtree is kept where the network predicted the true position and no expanded move ends the game."""
        if node.board is None or node.board.fen() != board.fen():
            return False
        for move, child in zip(node.moves, node.children, strict=True):
            if child and child.exact is None and value_after(board, move) is not None:
                return False  # a draw by the game's history: the subtree knows nothing of it
        node.board = board.copy()
        return super()._accept(node, board)
