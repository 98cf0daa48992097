"""MCTS as a planner; each game's tree is kept between its moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess

from diffusearch.inference.evaluation import Allowed
from diffusearch.inference.imagination import Ply, predicted_ply
from diffusearch.search.dynamics import Dynamics, Rules
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.mcts.conventions import FAIR
from diffusearch.search.mcts.node import ImaginedTree, Node, Tree
from diffusearch.search.mcts.play import edge_value, principal_edges, ranking, shares
from diffusearch.search.mcts.search import Progress, search
from diffusearch.search.mcts.settings import Settings
from diffusearch.search.planner import Budget, Plan, Planner, RootMove, Variation

TREES = 64  # searched side by side: enough to fill the network's batches, few enough for the memory
HORIZON = 64  # plies: a path of the tree has no fixed depth


class Mcts(Planner):
    """`Budget.evaluations` are simulations; seconds can only shorten a search."""

    def __init__(self, evaluator: Evaluator, dynamics: Dynamics = Rules(), settings: Settings = Settings()) -> None:
        self.evaluator, self.dynamics, self.settings = evaluator, dynamics, settings
        self.trees: dict[int, Tree] = {}  # of each game being played, at the last position that was decided

    @property
    def horizon(self) -> int:
        return min(HORIZON, self.settings.simulations)

    def plan(self, boards: Sequence[chess.Board], legal: Allowed | None, budget: Budget) -> list[Plan]:
        """Unrelated positions: a new tree for each. Kept trees are not touched."""
        moves = [()] * len(boards) if legal is None else legal
        return self._search([self._new(board, own) for board, own in zip(boards, moves, strict=True)], budget)

    def plan_in_game(self, board: chess.Board, legal: Allowed | None, budget: Budget) -> Plan:
        """The only game that is played has number 0."""
        return self.plan_in_games([board], [0], legal, budget)[0]

    def plan_in_games(
        self, boards: Sequence[chess.Board], games: Sequence[int], legal: Allowed | None, budget: Budget
    ) -> list[Plan]:
        """Each game's kept tree with the board as its root where the game went on from it, else a new one."""
        moves = [None] * len(boards) if legal is None else legal
        return self._search([self._of_game(*three) for three in zip(games, boards, moves, strict=True)], budget)

    def new_game(self) -> None:
        self.trees.clear()

    def _of_game(self, game: int, board: chess.Board, moves: Sequence[chess.Move] | None) -> Tree:
        """The tree of a game at a position. Where only some moves may be played it is a new one, and is not kept."""
        if moves is not None and len(moves) < board.legal_moves.count():
            return self._new(board, moves)
        kept = self.trees.get(game)
        if kept is None or not self.settings.reuse or not kept.follow(board):
            kept = self.trees[game] = self._new(board, ())
        return kept

    def _new(self, board: chess.Board, moves: Sequence[chess.Move]) -> Tree:
        kind = ImaginedTree if self.dynamics.predicts else Tree
        return kind(board, self.settings.conventions, moves)

    def _search(self, trees: Sequence[Tree], budget: Budget) -> list[Plan]:
        settings = self.settings
        if budget.evaluations is not None:
            settings = replace(settings, simulations=budget.evaluations)
        out: list[Plan] = []
        for start in range(0, len(trees), TREES):
            part = trees[start : start + TREES]
            spent = search(part, self.evaluator, settings, budget.seconds, self.dynamics)
            out += [self._plan(one) for one in spent]
        return out

    def _plan(self, spent: Progress) -> Plan:
        root, settings = spent.tree.root, self.settings
        share = shares(root)
        # The published scale is no win probability, so it is not shown as one.
        fair = settings.conventions is FAIR
        found = tuple(
            RootMove(
                root.moves[edge],
                float(root.prior[edge]),
                float(share[edge]),
                _evaluated(root, edge) if fair else None,
                edge_value(root, edge, settings) if fair else None,
            )
            for edge in ranking(root, settings)
        )
        value = root.value if fair else None
        return Plan(
            found, spent.calls, spent.evaluated, lambda move: self._variation(root, root.moves.index(move)), value
        )

    def _variation(self, root: Node, edge: int) -> Variation:
        """The most visited moves after an edge, with the predicted states in an imagined tree."""
        path = principal_edges(root, edge, self.settings)
        moves = tuple(node.moves[index] for node, index in path)
        if root.board is None:
            return Variation(moves)
        return Variation(moves, lambda: tuple(_ply(node, index) for node, index in path))


def _evaluated(root: Node, edge: int) -> float | None:
    """The mover's value after an edge by one evaluation; None where it was not visited."""
    child = root.children[edge]
    return None if child is None or not (child.expanded or child.exact is not None) else 1.0 - child.value


def _ply(node: Node, edge: int) -> Ply:
    child = node.children[edge]
    return predicted_ply(node.board, node.moves[edge], None if child is None else child.predicted, node.value)
