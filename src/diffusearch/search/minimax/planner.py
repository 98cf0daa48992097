"""Minimax as a planner: grow the tree, back up, redistribute the expanded moves' prior mass by a softmax of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import chess
import numpy as np

from diffusearch.inference.evaluation import Allowed
from diffusearch.search.dynamics import Dynamics
from diffusearch.search.evaluator import Evaluator, probability
from diffusearch.search.minimax.backup import Backup, line_mean, scores
from diffusearch.search.minimax.tree import MinimaxNode, Widths, calls, evaluations, further, grow, grow_on, holds
from diffusearch.search.minimax.variation import principal_variation
from diffusearch.search.planner import Budget, Plan, Planner, RootMove, Variation

WIDTHS: Widths = (4, 2, 2, 1)
VALUE_WEIGHT = 12.0
# Wider trees for the default one, where a budget of evaluations alone allows more than it: each is better than the one
# before on validation positions (docs/LOG.md), and has all positions of it.
WIDER: tuple[Widths, ...] = ((6, 3, 2, 2, 1), (8, 4, 3, 2, 1), (12, 4, 3, 2, 1))


@dataclass
class _Kept:
    """The last tree of a game."""

    root: MinimaxNode
    legal: list[chess.Move] | None
    widths: Widths

    def is_of(self, board: chess.Board, legal: Allowed | None) -> bool:
        own = self.root.board
        return own == board and own.move_stack == board.move_stack and self.legal == _first(legal)


class Minimax(Planner):
    """Expands the likeliest moves of each turn. `Budget.calls` and `depth` cut the tree, `evaluations` too."""

    def __init__(
        self,
        evaluator: Evaluator,
        dynamics: Dynamics,
        widths: Widths = WIDTHS,
        value_weight: float = VALUE_WEIGHT,
        backup: Backup = line_mean,
        margin: float = math.inf,
    ) -> None:
        """`margin`: how far the score of a first move may be behind the best one's (see `unpruned`)."""
        self.evaluator, self.dynamics = evaluator, dynamics
        self.widths, self.value_weight, self.backup, self.margin = widths, value_weight, backup, margin
        self._kept: _Kept | None = None

    @property
    def horizon(self) -> int:
        return len(self.widths)

    def unpruned(self, root: MinimaxNode, plies: int) -> list[chess.Move]:
        """The first moves that are grown deeper than `plies`: those not behind by more than margin / (plies - 1).

        The more values a mean has, the less the next one moves it. After one ply all first moves are grown.
        """
        if plies == 1 or self.margin == math.inf:
            return list(root.children)
        found = scores(root, self.value_weight, self.backup)
        least = found.max() - self.margin / (plies - 1)
        return [move for move, own in zip(root.children, found, strict=True) if own >= least]

    def within(self, budget: Budget) -> Widths:
        """The widths as deep as a budget allows, at least one look at the root (no widths at all)."""
        predicted = self.dynamics.predicts
        if self.widths == WIDTHS and budget.evaluations is not None and budget.calls is None:
            for wide in reversed(WIDER):
                fits = evaluations(wide, predicted=predicted) <= budget.evaluations
                if fits and (budget.depth is None or budget.depth >= len(wide)):
                    return wide
        for depth in range(len(self.widths), 0, -1):
            some = self.widths[:depth]
            if budget.depth is not None and depth > budget.depth:
                continue
            if budget.calls is not None and calls(some, predicted=predicted) > budget.calls:
                continue
            if budget.evaluations is not None and evaluations(some, predicted=predicted) > budget.evaluations:
                continue
            return some
        return ()

    def work(self, calls: int) -> int:
        return evaluations(self.within(Budget(calls=calls)), predicted=self.dynamics.predicts)

    def plan(self, boards: Sequence[chess.Board], legal: Allowed | None, budget: Budget) -> list[Plan]:
        widths = self.within(budget)
        if not widths:
            return self._one_look(boards, legal)
        roots = grow(self.evaluator, self.dynamics, boards, legal, widths, self.unpruned)
        return [self._plan(root) for root in roots]

    def plan_in_game(self, board: chess.Board, legal: Allowed | None, budget: Budget) -> Plan:
        """The tree is kept; to resume is to grow it on to the next wider one. Such a plan counts what is new."""
        kept = self._kept
        if budget.resume and kept is not None and kept.is_of(board, legal):
            if wider := self._next(kept.widths, budget.depth):
                before = kept.root.evaluations
                made = grow_on(self.evaluator, self.dynamics, [kept.root], legal, wider, self.unpruned)
                kept.widths = wider
                return replace(self._plan(kept.root), calls=made, evaluations=kept.root.evaluations - before)
            return replace(self._plan(kept.root), calls=0, evaluations=0)
        widths = self.within(budget)
        if not widths:
            return self._one_look([board], legal)[0]
        self._kept = None  # its memory is free before the next tree needs as much
        own = board.copy()  # the caller's may move on
        (root,) = grow(self.evaluator, self.dynamics, [own], legal, widths, self.unpruned)
        self._kept = _Kept(root, _first(legal), widths)
        return self._plan(root)

    def further(self, depth: int | None) -> int:
        kept = self._kept
        wider = self._next(kept.widths, depth) if kept else None
        if kept is None or wider is None:
            return 0
        predicted = self.dynamics.predicts
        # moves that were pruned may now be grown
        left = 0 if self.margin == math.inf else evaluations(kept.widths, predicted=predicted) - kept.root.evaluations
        return further(kept.widths, wider, predicted=predicted) + left

    def new_game(self) -> None:
        self._kept = None

    def _next(self, widths: Widths, depth: int | None) -> Widths | None:
        """The next tree of `WIDER` after these widths."""
        if self.widths != WIDTHS:
            return None
        fitting = (wide for wide in WIDER if depth is None or depth >= len(wide))
        return next((wide for wide in fitting if wide != widths and holds(wide, widths)), None)

    def _one_look(self, boards: Sequence[chess.Board], legal: Allowed | None) -> list[Plan]:
        """No tree: the priors."""
        out: list[Plan] = []
        for one in self.evaluator.evaluate(boards, legal):
            ranked = sorted(one.priors.items(), key=lambda item: -item[1])
            found = tuple(RootMove(move, share, share) for move, share in ranked)
            plan = Plan(found, 1, 1, lambda move: Variation((move,)), one.value, one.legal_mass, one.raw_legal)
            out.append(plan)
        return out

    def _plan(self, root: MinimaxNode) -> Plan:
        """Redistributes the prior mass of the expanded moves by a softmax of their scores.

        The other moves keep their priors. A move's score as a win probability is the mean of the root's own log odds
        and those backed up after it.
        """
        assert root.evaluation is not None
        score = scores(root, self.value_weight, self.backup)
        weights, mass = np.exp(score - score.max()), np.sum([root.priors[move] for move in root.children])
        shares = root.priors | dict(zip(root.children, (weights / weights.sum() * mass).tolist(), strict=True))
        values = {m: probability(child.odds) for m, child in root.children.items() if child}
        searched = {m: probability((root.odds + self.backup(root, child)) / 2) for m, child in root.children.items()}
        found = tuple(
            RootMove(move, root.priors[move], share, values.get(move), searched.get(move))
            for move, share in sorted(shares.items(), key=lambda item: -item[1])
        )
        return Plan(
            found,
            root.calls,
            root.evaluations,
            lambda move: principal_variation(root, move, self.value_weight, self.backup),
            root.evaluation.value,
            root.evaluation.legal_mass,
            root.evaluation.raw_legal,
        )


def _first(legal: Allowed | None) -> list[chess.Move] | None:
    return None if legal is None else list(legal[0])
