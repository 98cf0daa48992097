"""What heads have in common: a head is a sum of logit terms, and its first term is tied or linear."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor, nn

from diffusearch.model.embedding import Embedding
from diffusearch.model.residual_state import Copies
from diffusearch.tokens.layout import Group, Layout


class Indices(NamedTuple):
    """Where the variables of a group are."""

    places: Tensor  # [n] the distinct places that carry them
    order: Tensor | None  # [variables] their numbers among the outputs of these places; None: as they come
    variables: Tensor  # [variables]
    squares: Tensor  # of moves, one after another: the square places of the state in which each is played


class View(NamedTuple):
    """What the terms of a head can read."""

    group: Group
    indices: Indices
    hidden: Tensor  # [batch, places, width] of the record
    here: Tensor  # [batch, n, width] of the distinct places that carry the group's variables
    embedding: Embedding
    copies: Copies | None  # with the residual state
    known: list[Tensor] | None  # the states as far as they are known, [batch, slots] each

    def by_variable(self, outputs: Tensor, size: int) -> Tensor:
        """Outputs [batch, n, k x size] of places that carry up to k variables -> [batch, variables, size]."""
        outputs = outputs.view(outputs.shape[0], -1, size)
        return outputs if self.indices.order is None else outputs[:, self.indices.order]


class Head(nn.Module):
    """The logits of one type of variable: the sum of the head's terms."""

    def terms(self, view: View) -> Iterator[Tensor]:
        """The terms, each [batch, variables, vocabulary]."""
        raise NotImplementedError

    def forward(self, view: View) -> Tensor:
        return reduce(torch.add, self.terms(view))


class Tied(nn.Module):
    """The paper's term: hidden state x token vector, for all tokens of the type."""

    def forward(self, view: View) -> Tensor:
        return view.by_variable(
            view.here @ view.embedding.type_rows(view.group.type, view.group.size).t(), view.group.size
        )


class Linear(nn.Module):
    """A linear layer of the place, with outputs for each of the variables that a place carries."""

    def __init__(self, width: int, size: int, variables: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, size * variables)

    def forward(self, view: View) -> Tensor:
        return view.by_variable(self.out(view.here), view.group.size)


def first_terms(layout: Layout, width: int, *, tied: bool) -> dict[str, nn.Module]:
    """The first term of every head by type, initialised like the trunk."""
    if tied:
        return {group.type: Tied() for group in layout.groups}
    terms = {group.type: Linear(width, group.size, layout.per_place(group.type)) for group in layout.groups}
    for term in terms.values():
        nn.init.normal_(term.out.weight, std=0.02)
        nn.init.zeros_(term.out.bias)
    return dict(terms)
