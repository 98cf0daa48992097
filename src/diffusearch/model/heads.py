"""Hidden states of places -> logits of variables, each over the vocabulary of its own type only.

Three choices for the head of moves (and the rest):
    vocabulary  the paper's: the token table itself, tied, cut to the rows of the type
    typed       a linear layer for each type
    squares     typed, and a move's score is also read off the squares it names, in the state it is played in
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.embedding import Embedding
from diffusearch.model.grounding import Copies
from diffusearch.model.rights import Rights
from diffusearch.model.standing import Standing
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Group, Layout

Logits = dict[str, Tensor]  # type -> [batch, variables of the type, vocabulary], in the order of Layout.groups

# The distinct places of a group; the order of its outputs (None: as they come); an action's square places; and the
# group's variables.
Plan = tuple[Tensor, Tensor | None, Tensor, Tensor]


class SourceTarget(nn.Module):
    """score(move) = <source, gate * target> + <source, u> + <target, w> + promotion, from the squares' hidden states.

    gate, u and w come from the action's own place, through which the imagined future speaks.
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


class Heads(nn.Module):
    """All output heads of a denoiser."""

    def __init__(
        self,
        layout: Layout,
        width: int,
        kind: str,
        inner: int,
        *,
        copy: bool = False,
        rights: bool = False,
        standing: bool = False,
        exposure: bool = False,
    ) -> None:
        super().__init__()
        self.kind = kind
        sizes = {group.type: group.size for group in layout.groups}
        if kind != "vocabulary":
            self.linear = nn.ModuleDict({t: nn.Linear(width, size * layout.per_place(t)) for t, size in sizes.items()})
            for name, parameter in self.linear.named_parameters():
                nn.init.zeros_(parameter) if name.endswith("bias") else nn.init.normal_(parameter, std=0.02)
        self.source_target = SourceTarget(layout, width, inner) if kind == "squares" and "action" in sizes else None
        self.standing = Standing(exposure=exposure) if standing and "action" in sizes else None
        states = [t for t in sizes if t not in ("action", "value")]
        # two gates a variable: what was there stays, and what moves arrives
        self.copy = nn.ModuleDict({t: nn.Linear(width, 2 * layout.per_place(t)) for t in states}) if copy else None
        # and what they start from on a square that the move leaves or reaches: not what was there, but what arrives
        self.touched = nn.Parameter(torch.tensor([[0.0, 0.0], [-12.0, 0.0], [-12.0, 12.0]])) if copy else None
        self.rights = Rights(sizes["castling"]) if rights and "castling" in sizes else None
        for name, parameter in self.named_parameters():
            if name.startswith("copy."):
                nn.init.zeros_(parameter)
                if name.endswith("bias"):  # at first: very likely nothing has moved
                    with torch.no_grad():
                        parameter[::2] = 6.0
        self._plans: dict[tuple[int, str, int, int, torch.device], Plan] = {}

    def forward(
        self,
        hidden: Tensor,
        layout: Layout,
        embedding: Embedding,
        shift: int = 0,
        groups: tuple[Group, ...] | None = None,
        copies: Copies | None = None,
        known: list[Tensor] | None = None,
    ) -> Logits:
        """Hidden states [batch, places, width] -> logits by type.

        shift = 1: a place is predicted from the place before it (autoregressive), and later places may be missing.
        `groups` leaves out everything else. `copies` [batch, variables] say, for the variables of imagined states, what
        a grounded model can copy and where the move touches them (grounding.py).
        `known` are the states [batch, slots] as far as they are known, in which moves are played.
        """
        out: Logits = {}
        for group in layout.groups if groups is None else groups:
            places, order, state, variables = self._plan(layout, group, hidden.device)
            here = hidden[:, places - shift]  # [batch, distinct places, width]
            if self.kind == "vocabulary":
                logits = here @ embedding.type_rows(group.type, group.size).t()
            else:
                logits = self.linear[group.type](here).view(hidden.shape[0], -1, group.size)
            gates = None
            if self.copy is not None and group.type in self.copy:
                gates = self.copy[group.type](here).view(hidden.shape[0], -1, 2)
            if order is not None:
                logits = logits[:, order]
                gates = gates[:, order] if gates is not None else None
            if gates is not None:
                if copies is None:
                    raise ValueError("a grounded model needs the record's tokens to predict states")
                stays, arrives, touched, left, reached = (copy[:, variables] for copy in copies)
                assert self.touched is not None
                gates = gates + F.embedding(touched, self.touched)
                wider = F.pad(logits, (0, 1))  # the last column takes what is not known
                for gate, copied in zip(gates.to(logits.dtype).split(1, dim=-1), (stays, arrives), strict=True):
                    wider = wider.scatter_add(-1, copied[..., None].clamp(max=group.size), gate)
                logits = wider[..., :-1]
                if group.type == "castling" and self.rights is not None:
                    logits = logits + self.rights(stays, left, reached).to(logits.dtype)
            if group.type == "action" and self.source_target is not None:
                batch, count, width = here.shape
                squares = hidden[:, state].view(batch * count, -1, width)
                scores = self.source_target(squares, here.reshape(batch * count, width))
                logits = torch.cat([logits[..., :-1] + scores.view(batch, count, -1), logits[..., -1:]], dim=-1)
            if group.type == "action" and self.standing is not None:
                if known is None:
                    raise ValueError("a model with `standing` needs the record's tokens to predict moves")
                stands = [
                    self.standing(known[min(int(ply), len(known) - 1)], opponent=bool(ply % 2)) for ply in group.plies
                ]
                logits = logits + F.pad(torch.stack(stands, 1), (0, 1))
            out[group.type] = logits
        return out

    def _plan(self, layout: Layout, group: Group, device: torch.device) -> Plan:
        key = (layout.horizon, group.type, int(group.variables[0]), len(group.variables), device)
        if key not in self._plans:
            distinct, inverse = np.unique(group.places, return_inverse=True)
            each = layout.per_place(group.type) if self.kind != "vocabulary" else 1
            order = inverse * each + group.patch
            identity = len(order) == len(distinct) * each and bool((order == np.arange(len(order))).all())
            state: list[int] = []
            if group.type == "action":
                square_places = 64 // layout.patch
                for ply in group.plies:
                    segment = next(s for s in reversed(layout.segments) if s.kind == "s" and s.ply <= ply)
                    state.extend(range(segment.place, segment.place + square_places))
            with torch.inference_mode(False):  # whoever asks first: the plan must serve training too
                self._plans[key] = (
                    torch.from_numpy(distinct).to(device),
                    None if identity else torch.from_numpy(order).to(device),
                    torch.tensor(state, dtype=torch.int64, device=device),
                    torch.from_numpy(group.variables).to(device),
                )
        return self._plans[key]
