"""Heads: hidden states of places -> logits of variables, each over the vocabulary of its own type only.

There is one head for each type of variable, and the logits of a head are a sum of terms:

    head    file        terms
    moves   move.py     linear or tied + source-target + policy skip
    states  state.py    linear or tied + copy gates + castling table
    values  value.py    linear or tied

The first term depends on `head`: "vocabulary" is the paper's (the token table itself, tied), "typed" a linear layer for
each type, "squares" the same with the source-target term for moves. Policy skip belongs to the board features, copy
gates and castling table to the residual state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from diffusearch.model.config import HeadKind
from diffusearch.model.embedding import Embedding
from diffusearch.model.heads.move import MoveHead
from diffusearch.model.heads.state import StateHead
from diffusearch.model.heads.terms import Head, Indices, View, first_terms
from diffusearch.model.heads.value import ValueHead
from diffusearch.model.residual_state import Copies
from diffusearch.model.rows import GroupIndices
from diffusearch.tokens.layout import Group, Layout

Logits = dict[str, Tensor]  # type -> [batch, variables of the type, vocabulary], in the order of Layout.groups


class Heads(nn.ModuleDict):
    """The head of each type of variable that a layout predicts."""

    def __init__(
        self,
        layout: Layout,
        width: int,
        kind: HeadKind,
        inner: int,
        *,
        board_features: bool = False,
        residual_state: bool = False,
    ) -> None:
        super().__init__()
        self.kind = kind
        terms = first_terms(layout, width, tied=kind == "vocabulary")
        head: Head
        for group in layout.groups:
            if group.type == "action":
                pointing = inner if kind == "squares" else None
                skip = board_features and kind != "vocabulary"
                head = MoveHead(terms["action"], layout, width, source_target=pointing, policy_skip=skip)
            elif group.type == "value":
                head = ValueHead(terms["value"])
            else:
                head = StateHead(terms[group.type], layout, width, group, residual_state=residual_state)
            self[group.type] = head
        self._indices: dict[tuple[int, str, int, int, torch.device], Indices] = {}

    @property
    def reads_boards(self) -> bool:
        """Whether move logits have a term that reads the record's states."""
        return "action" in self and getattr(self["action"], "policy_skip", None) is not None

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
        `groups`: only these (or parts of them). `copies` are needed with the residual state, `known` (the states as far
        as they are known, [batch, slots] each) with the policy skip.
        """
        out: Logits = {}
        for group in layout.groups if groups is None else groups:
            indices = self._indices_of(layout, group, hidden.device)
            here = hidden[:, indices.places - shift]
            out[group.type] = self[group.type](View(group, indices, hidden, here, embedding, copies, known))
        return out

    def _indices_of(self, layout: Layout, group: Group, device: torch.device) -> Indices:
        key = (layout.horizon, group.type, int(group.variables[0]), len(group.variables), device)
        if key not in self._indices:
            found = GroupIndices(layout, group, several=self.kind != "vocabulary")
            with torch.inference_mode(False):  # training uses the same indices
                self._indices[key] = Indices(
                    torch.from_numpy(found.places).to(device),
                    None if found.order is None else torch.from_numpy(found.order).to(device),
                    torch.from_numpy(group.variables).to(device),
                    torch.from_numpy(found.squares).to(device),
                )
        return self._indices[key]
