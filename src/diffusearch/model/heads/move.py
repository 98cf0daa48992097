"""The head of moves: linear or tied term + source-target term + policy-skip term."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.board_features.policy_skip import PolicySkip
from diffusearch.model.heads.terms import Head, View
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout


class SourceTarget(nn.Module):
    """score(move) = <source, gate * target> + <source, u> + <target, w> + promotion, from the squares' hidden states.

    gate, u and w come from the action's own place, which attends to the predicted future.
    """

    def __init__(self, layout: Layout, width: int, inner: int) -> None:
        super().__init__()
        self.inner = inner
        self.pair: Tensor
        self.becomes: Tensor
        self.order: Tensor
        self.source = nn.Linear(width, layout.patch * inner)
        self.target = nn.Linear(width, layout.patch * inner)
        self.action = nn.Linear(width, 3 * inner)
        self.promotion = nn.Linear(inner, 4)
        self.register_buffer("pair", torch.from_numpy(moves.SOURCE * 64 + moves.TARGET), persistent=False)
        self.register_buffer("becomes", torch.from_numpy(moves.TARGET * 5 + moves.PROMOTION), persistent=False)
        self.register_buffer("order", torch.from_numpy(layout.square_order), persistent=False)

    def forward(self, squares: Tensor, action: Tensor) -> Tensor:
        """Hidden states of the square places [n, 64 / k, width] and the action's [n, width] -> scores [n, 1968]."""
        count = squares.shape[0]
        source = self.source(squares).view(count, 64, self.inner)[:, self.order]
        target = self.target(squares).view(count, 64, self.inner)[:, self.order]
        gate, u, w = self.action(action).view(count, 3, self.inner).unbind(1)
        scale = self.inner**-0.5
        scores = torch.bmm((source * (1 + gate)[:, None]) * scale, target.transpose(1, 2))
        scores = scores + torch.bmm(source, u[:, :, None]) + torch.bmm(target, w[:, :, None]).transpose(1, 2)
        becomes = F.pad(self.promotion(target), (1, 0)).view(count, -1)
        return scores.view(count, -1)[:, self.pair] + becomes[:, self.becomes]


class MoveHead(Head):
    """Logits of moves. Only the first term scores "the game is over", the last token of the vocabulary."""

    def __init__(
        self, first: nn.Module, layout: Layout, width: int, *, source_target: int | None, policy_skip: bool
    ) -> None:
        """`source_target` is the width of the source and target vectors; None: no such term."""
        super().__init__()
        self.first = first
        self.source_target = None if source_target is None else SourceTarget(layout, width, source_target)
        self.policy_skip = PolicySkip() if policy_skip else None

    def terms(self, view: View) -> Iterator[Tensor]:
        yield self.first(view)
        if self.source_target is not None:
            yield F.pad(self._source_target(self.source_target, view), (0, 1))
        if self.policy_skip is not None:
            yield F.pad(self._policy_skip(self.policy_skip, view), (0, 1))

    def _source_target(self, term: SourceTarget, view: View) -> Tensor:
        """[batch, variables, 1968], each from the squares of the state in which the move is played."""
        batch, count, width = view.here.shape
        squares = view.hidden[:, view.indices.squares].view(batch * count, -1, width)
        scores: Tensor = term(squares, view.here.reshape(batch * count, width))
        return scores.view(batch, count, -1)

    def _policy_skip(self, term: PolicySkip, view: View) -> Tensor:
        """[batch, variables, 1968], each from the state in which the move is played, as far as it is known."""
        if (known := view.known) is None:
            raise ValueError("a model with board features needs the record's tokens to predict moves")
        plies = view.group.plies.tolist()
        return torch.stack([term(known[min(ply, len(known) - 1)], opponent=bool(ply % 2)) for ply in plies], 1)
