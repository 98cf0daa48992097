"""Drafts: the likeliest first moves of a position, each with the lines that the network plays after it.

The network predicts the drafted positions and evaluates them. The rules say which moves are legal in them, and that a
position without moves is mate or stalemate; at the root, with the game's history, they also say which first moves end
the game. They make no other position. tokens/drafts.py numbers the nodes of a draft.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.inference.evaluation import Evaluation, PredictedState
from diffusearch.search.dynamics import Dynamics, Successor, successors
from diffusearch.search.evaluator import Evaluator, log_odds
from diffusearch.search.outcome import Outcome
from diffusearch.tokens.drafts import BEFORE, LINES, NODES, PLIES

_FINAL = {Outcome.MATED: 0.0, Outcome.DRAWN: 0.5}  # win probability of the side to move where the game is over


@dataclass(frozen=True)
class DraftNode:
    """One drafted position."""

    move: chess.Move  # leads to it
    log_share: float  # log probability of that move where it was played
    board: chess.Board | None  # None: what the network predicted is no valid position
    odds: float  # log odds of the root's mover
    over: bool = False  # whether the game is over there
    evaluation: Evaluation | None = None  # None where the game is over, or there is no position
    predicted: PredictedState | None = None  # None where the rules made the position and nothing was predicted


@dataclass
class Draft:
    """A first move and what was drafted after it."""

    move: chess.Move
    nodes: list[DraftNode | None] = field(default_factory=lambda: [None] * NODES)

    @property
    def has_second(self) -> bool:
        """Whether a second line was drafted, or there is nothing to draft: no second reply, or the game is over."""
        first = self.nodes[0]
        replies = 0 if first is None or first.evaluation is None else len(first.evaluation.priors)
        return self.nodes[LINES[1][1]] is not None or replies < 2

    def lines(self) -> list[list[DraftNode]]:
        """The drafted lines, each from the first move on; at least one."""
        out: list[list[DraftNode]] = []
        for line in LINES:
            nodes = [one for node in line if (one := self.nodes[node]) is not None]
            if not out or len(nodes) > 1:
                out.append(nodes)
        return out


@dataclass(frozen=True)
class _Wanted:
    """A node to be drafted: a move in the position before it."""

    draft: Draft
    node: int
    board: chess.Board
    evaluation: Evaluation
    move: chess.Move


class Drafter:
    """Drafts by an evaluator and dynamics: one call for the positions of a ply, and one for their evaluation."""

    def __init__(self, evaluator: Evaluator, dynamics: Dynamics) -> None:
        self.evaluator, self.dynamics = evaluator, dynamics
        self.calls = 0  # of the network, since this object was made

    @property
    def predicts(self) -> bool:
        """Whether the network makes the positions."""
        return self.dynamics.predicts

    def first_lines(
        self, boards: Sequence[chess.Board], roots: Sequence[Evaluation], count: int, depth: int
    ) -> list[list[Draft]]:
        """For each position its `count` likeliest moves, each with one line of `depth` plies."""
        out: list[list[Draft]] = []
        wanted: list[_Wanted] = []
        for board, root in zip(boards, roots, strict=True):
            drafts = [Draft(move) for move in root.ranked()[:count]]
            wanted += [_Wanted(draft, 0, board, root, draft.move) for draft in drafts]
            out.append(drafts)
        self._add(wanted, last=depth == 1, at_root=True)
        for ply in range(2, depth + 1):
            node = LINES[0][ply - 1]
            self._add([one for drafts in out for draft in drafts for one in _next(draft, node)], last=ply == depth)
        return out

    def second_lines(self, drafts: Sequence[Draft], depth: int) -> None:
        """To each draft the line after the second-likeliest reply, where there is one."""
        for ply in range(2, depth + 1):
            node = LINES[1][ply - 1]
            self._add([one for draft in drafts for one in _next(draft, node)], last=ply == depth)

    def _add(self, wanted: Sequence[_Wanted], *, last: bool, at_root: bool = False) -> None:
        """Draft the nodes; the moves of the last ones are not asked for."""
        if not wanted:
            return
        boards, evaluated = [one.board for one in wanted], [one.evaluation for one in wanted]
        found = successors(self.dynamics, boards, evaluated, [one.move for one in wanted], at_root=at_root)
        open_ = [one.board for one in found if one.board is not None and one.outcome is None]
        self.calls += self.predicts + bool(open_)
        evaluations = iter(self.evaluator.evaluate(open_, priors=not last) if open_ else [])
        for one, successor in zip(wanted, found, strict=True):
            goes_on = successor.board is not None and successor.outcome is None
            one.draft.nodes[one.node] = _node(one, successor, next(evaluations) if goes_on else None)


def _node(wanted: _Wanted, successor: Successor, evaluation: Evaluation | None) -> DraftNode:
    log_share = math.log(max(wanted.evaluation.priors[wanted.move], 1e-30))
    over = successor.outcome is not None
    if successor.outcome is not None:
        value = _FINAL[successor.outcome]
    elif evaluation is not None and evaluation.value is not None:
        value = evaluation.value
    else:
        value = 0.5
    sign = -1.0 if PLIES[wanted.node] % 2 else 1.0  # after an odd number of plies the opponent is to move
    odds = sign * log_odds(value)
    return DraftNode(wanted.move, log_share, successor.board, odds, over, evaluation, successor.predicted)


def _next(draft: Draft, node: int) -> list[_Wanted]:
    """The node to be drafted after the node before it, where the game goes on there and has a move for it."""
    before = BEFORE[node]
    assert before is not None
    parent = draft.nodes[before]
    if parent is None or parent.board is None or parent.evaluation is None:
        return []
    rank = 1 if node == LINES[1][1] else 0  # the second line begins with the second-likeliest reply
    likeliest = parent.evaluation.ranked()
    return [_Wanted(draft, node, parent.board, parent.evaluation, likeliest[rank])] if len(likeliest) > rank else []
