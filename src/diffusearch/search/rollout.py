"""Rollout: plays the likeliest move of each position, from state to state. The root move is that of one look.

The line shows what the network expects. It changes nothing: a baseline for planners that choose by what they find.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.inference.imagination import Ply, predicted_ply
from diffusearch.search.dynamics import Dynamics, Successor, successors
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.planner import Budget, Plan, Planner, RootMove, Variation

DEPTH = 4


@dataclass
class _Path:
    """One rollout so far."""

    board: chess.Board  # where it goes on
    root: Evaluation | None = None
    moves: list[chess.Move] = field(default_factory=list)
    plies: list[Ply] = field(default_factory=list)
    log_probability: float = 0.0
    evaluations: int = 0  # of positions and predicted states, one network call each
    predicted: bool = False
    over: bool = False


class Rollout(Planner):
    """Greedy rollouts of `depth` plies; the state after the last move is not computed.

    A ply takes two network calls where states are predicted, else one.
    """

    def __init__(self, evaluator: Evaluator, dynamics: Dynamics, depth: int = DEPTH) -> None:
        self.evaluator, self.dynamics, self.depth = evaluator, dynamics, depth

    @property
    def horizon(self) -> int:
        return self.depth

    def plan(self, boards: Sequence[chess.Board], legal: Allowed | None, budget: Budget) -> list[Plan]:
        depth = min(self.depth, budget.depth or self.depth) if budget.line else 1
        if budget.calls is not None:
            depth = min(depth, (budget.calls + 1) // 2 if self.dynamics.predicts else budget.calls)
        paths = [_Path(board) for board in boards]
        going = paths
        for ply in range(max(1, depth)):
            if not going:
                break
            found = self.evaluator.evaluate([path.board for path in going], legal if ply == 0 else None)
            for path, evaluation in zip(going, found, strict=True):
                path.root = path.root or evaluation
                _play(path, evaluation)
            if ply + 1 < depth:
                self._step(going, found, at_root=ply == 0)
                going = [path for path in going if not path.over]
        return [_plan(path) for path in paths]

    def work(self, calls: int) -> int:
        return min(calls, 2 * self.depth - 1 if self.dynamics.predicts else self.depth)

    def _step(self, paths: Sequence[_Path], evaluations: Sequence[Evaluation], *, at_root: bool) -> None:
        """Every path goes on to the state after its last move, or ends."""
        boards, moves = [path.board for path in paths], [path.moves[-1] for path in paths]
        found = successors(self.dynamics, boards, evaluations, moves, at_root=at_root)
        for path, successor in zip(paths, found, strict=True):
            _arrive(path, successor)


def _play(path: _Path, evaluation: Evaluation) -> None:
    """The likeliest move of the position at hand."""
    move = max(evaluation.priors, key=evaluation.priors.__getitem__)
    path.moves.append(move)
    path.plies.append(predicted_ply(path.board, move, None, evaluation.value))
    path.log_probability += math.log(max(evaluation.priors[move], 1e-300))
    path.evaluations += 1


def _arrive(path: _Path, successor: Successor) -> None:
    state = successor.predicted
    if state is not None:
        path.plies[-1] = predicted_ply(path.board, path.moves[-1], state, path.plies[-1].value)
        path.log_probability += state.log_probability
        path.evaluations += 1
        path.predicted = True
    path.over = successor.board is None or successor.outcome is not None
    if successor.board is not None:
        path.board = successor.board


def _plan(path: _Path) -> Plan:
    """The priors of the root, with the rollout after its likeliest move."""
    root = path.root
    assert root is not None
    line = Variation(tuple(path.moves), (lambda: tuple(path.plies)) if path.predicted else None, path.log_probability)
    ranked = sorted(root.priors.items(), key=lambda item: -item[1])
    return Plan(
        tuple(RootMove(move, share, share) for move, share in ranked),
        path.evaluations,
        path.evaluations,
        lambda move: line if move == path.moves[0] else Variation((move,)),
        root.value,
        root.legal_mass,
        root.raw_legal,
    )
