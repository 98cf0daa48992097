"""Draft and revise: the network drafts futures of its likeliest moves, reads them, and denoises the move again.

The first look gives a probability to every legal move. The likeliest moves are drafted (drafting.py), the network reads
the drafted positions (model/heads/drafts.py) and revises the probabilities. Then come rounds: the leading move gets a
second line, by the second-likeliest reply, and all drafts are read again, until the leading move has had one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.diffusion.decoding import Decoding, Floats
from diffusearch.drafts.drafting import Draft, Drafter, DraftNode
from diffusearch.errors import UserError
from diffusearch.inference.backend import DraftArrays, DraftReading
from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.inference.imagination import DraftedMove, Imagination, Ply, predicted_ply
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.run import EvaluationContext, Run
from diffusearch.search.dynamics import Dynamics, Imagined
from diffusearch.search.evaluator import log_odds, probability
from diffusearch.tokens.drafts import NODES
from diffusearch.tokens.layout import Layout

BATCH = 48  # roots whose drafts are made together: their hidden states are kept until they are read


@dataclass(frozen=True)
class Effort:
    """How much is drafted within a number of network calls: one for the root, two for each ply of each line."""

    drafts: int
    depth: int
    rounds: int

    @classmethod
    def of(cls, decoding: Decoding, predicts: bool = True) -> Effort:
        """The decoding's drafts as far as its steps reach; none, one look, where they do not reach the first ply."""
        a_ply = 2 if predicts else 1
        depth = min(decoding.depth, (decoding.steps - 1) // a_ply)
        if depth < 1 or decoding.drafts < 1:
            return cls(0, 0, 0)
        a_round = a_ply * (depth - 1)
        left = decoding.steps - 1 - a_ply * depth
        return cls(decoding.drafts, depth, min(decoding.rounds, left // a_round) if a_round else 0)


@dataclass
class Root:
    """One position while its move is revised."""

    board: chess.Board
    evaluation: Evaluation
    drafts: list[Draft]
    revised: dict[chess.Move, float] = field(default_factory=dict)  # probabilities, likeliest first
    wins: list[float] = field(default_factory=list)  # of each draft
    calls: int = 1  # of the network: one for the first look

    @property
    def leader(self) -> Draft:
        """The draft of the likeliest move; a move that was not drafted is never likelier."""
        return max(self.drafts, key=lambda draft: self.revised[draft.move])


class Reviser:
    """A run with a draft reader. It denoises jointly, and with drafts where the decoding has them."""

    def __init__(self, run: Run, dynamics: Dynamics | None = None) -> None:
        if not run.reads_drafts:
            raise UserError(
                f"the run {run.name!r} has no draft reader: leave drafts out, or train it with draft_reader = true"
            )
        self.run, self.joint = run, JointDenoiser(run)
        self.drafter = Drafter(run, dynamics or Imagined(run))

    @property
    def provenance(self) -> dict[str, Any]:
        return self.run.provenance

    def asked_layout(self, decoding: Decoding, horizon: int | None = None) -> Layout:
        """What is looked at: as many plies as are drafted."""
        effort = Effort.of(decoding, self.drafter.predicts)
        if not effort.drafts:
            return self.joint.asked_layout(_without_drafts(decoding), horizon)
        return self.run.layout.truncated(min(effort.depth, self.run.horizon))

    def work(self, decoding: Decoding) -> int:
        """Evaluations of one position, at most: those of the root and of all drafted nodes, which may be predicted."""
        effort = Effort.of(decoding, self.drafter.predicts)
        if not effort.drafts:
            return self.joint.work(_without_drafts(decoding))
        nodes = effort.drafts * effort.depth + effort.rounds * (effort.depth - 1)
        return 1 + (2 if self.drafter.predicts else 1) * nodes

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding | None = None,
        generator: np.random.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
        *,
        film: bool = False,
    ) -> list[Imagination]:
        """The move of each position after its drafts were read, with the drafts and the line that the move leads.

        Only what is denoised without drafts has a `film`.
        """
        decoding = decoding or self.run.recipe.decoding
        effort = Effort.of(decoding, self.drafter.predicts)
        if not effort.drafts:
            return self.joint.imagine(boards, _without_drafts(decoding), generator, legal, horizon, film=film)
        out: list[Imagination] = []
        for start in range(0, len(boards), BATCH):
            part = boards[start : start + BATCH]
            evaluations = self.run.evaluate(part, None if legal is None else legal[start : start + BATCH])
            roots = self.revise(part, evaluations, effort)
            out += [_imagination(root) for root in roots]
        return out

    def revise(self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation], effort: Effort) -> list[Root]:
        """Draft, read, and go on for some rounds."""
        before = self.drafter.calls
        drafts = self.drafter.first_lines(boards, evaluations, effort.drafts, effort.depth)
        roots = [Root(*three) for three in zip(boards, evaluations, drafts, strict=True)]
        for root in roots:
            root.calls += self.drafter.calls - before
        self._read(roots)
        going = roots
        for _ in range(effort.rounds):
            going = [root for root in going if not root.leader.has_second]
            if not going:
                break
            before = self.drafter.calls
            self.drafter.second_lines([root.leader for root in going], effort.depth)
            for root in going:
                root.calls += self.drafter.calls - before
            self._read(going)
        return roots

    def _read(self, roots: Sequence[Root]) -> None:
        """Revise the probabilities of some roots by all that is drafted for them."""
        found = self.run.backend.read_drafts(draft_arrays(roots))
        for row, root in enumerate(roots):
            root.revised = _revised(root, found, row)
            root.wins = found.wins[row, : len(root.drafts)].tolist()


def _without_drafts(decoding: Decoding) -> Decoding:
    """What a decoding becomes where nothing is drafted: one look where its steps do not reach the first ply."""
    return replace(decoding, drafts=0, steps=1) if decoding.drafts else decoding


def imaginer(run: Run, decoding: Decoding) -> JointDenoiser | Reviser:
    """What imagines as a decoding says: without drafts, or with them."""
    return Reviser(run) if decoding.drafts else JointDenoiser(run)


def _imagination(root: Root) -> Imagination:
    move = root.leader.move
    drafted = tuple(_drafted(root, at) for at in range(len(root.drafts)))
    own = drafted[root.drafts.index(root.leader)]
    nodes = [node for draft in root.drafts for node in draft.nodes if node is not None]
    return Imagination(
        root=root.board.fen(),
        move=move.uci(),
        probabilities={one.uci(): share for one, share in root.revised.items()},
        line=own.lines[0],
        log_probability=math.log(max(root.revised[move], 1e-300)),
        value=own.revised,
        legal_mass=root.evaluation.legal_mass,
        raw_legal=root.evaluation.raw_legal,
        steps=root.calls,
        evaluations=1 + sum((node.evaluation is not None) + (node.predicted is not None) for node in nodes),
        drafts=drafted,
    )


def draft_arrays(roots: Sequence[Root], most: int = 0) -> DraftArrays:
    """The drafts of some roots as arrays; K is `most`, or the most drafts that one of them has."""
    most = max(most, *(len(root.drafts) for root in roots))
    first = _hidden(roots[0].evaluation)
    nodes = (len(roots), most, NODES)
    hidden = np.zeros((*nodes, *first.shape), dtype=np.float32)
    odds, log_shares = np.zeros(nodes, dtype=np.float32), np.zeros(nodes, dtype=np.float32)
    exists, over = np.zeros(nodes, dtype=bool), np.zeros(nodes, dtype=bool)
    for row, root in enumerate(roots):
        for rank, draft in enumerate(root.drafts):
            for at, node in enumerate(draft.nodes):
                if node is None or node.board is None:
                    continue
                exists[row, rank, at], over[row, rank, at] = True, node.over
                odds[row, rank, at], log_shares[row, rank, at] = node.odds, node.log_share
                if node.evaluation is not None:
                    hidden[row, rank, at] = _hidden(node.evaluation)
    values = [0.5 if root.evaluation.value is None else root.evaluation.value for root in roots]
    root_odds = np.array([log_odds(value) for value in values], dtype=np.float32)
    return DraftArrays(
        np.stack([_hidden(root.evaluation) for root in roots]), hidden, root_odds, odds, log_shares, exists, over
    )


def _hidden(evaluation: Evaluation) -> Floats:
    """The hidden states [given places, width] of an evaluated position."""
    context = evaluation.context
    assert isinstance(context, EvaluationContext)
    assert context.roots.hidden is not None
    found: Floats = context.roots.hidden[context.row]
    return found


def _revised(root: Root, found: DraftReading, row: int) -> dict[chess.Move, float]:
    """The probabilities of all moves, likeliest first.

    Drafted moves share anew what they had together at the first look; the others keep what they had.
    """
    shares = dict(root.evaluation.priors)
    moves = [draft.move for draft in root.drafts]
    priors: npt.NDArray[np.float64] = np.array([shares[move] for move in moves])
    logits = found.scale * (np.log(np.maximum(priors, 1e-30)) + found.scores[row, : len(moves)])
    powers = np.exp(logits - logits.max())
    shares |= zip(moves, (priors.sum() * powers / powers.sum()).tolist(), strict=True)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _drafted(root: Root, at: int) -> DraftedMove:
    draft = root.drafts[at]
    first = draft.nodes[0]
    return DraftedMove(
        move=draft.move.uci(),
        before=root.evaluation.priors[draft.move],
        after=root.revised[draft.move],
        value=None if first is None or first.board is None else probability(first.odds),
        revised=root.wins[at],
        lines=tuple(_plies(root, line) for line in draft.lines()),
    )


def _plies(root: Root, line: Sequence[DraftNode]) -> tuple[Ply, ...]:
    """A drafted line with the positions in it."""
    plies: list[Ply] = []
    board: chess.Board | None = root.board
    evaluation: Evaluation | None = root.evaluation
    for node in line:
        state = node.predicted or PredictedState(node.board)  # the rules may make the positions of drafts
        plies.append(predicted_ply(board, node.move, state, None if evaluation is None else evaluation.value))
        board, evaluation = node.board, node.evaluation
    return tuple(plies)
