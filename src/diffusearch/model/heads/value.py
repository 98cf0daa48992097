"""Values: the head of value variables in a record, and the auxiliary value of the root."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from diffusearch.model.heads.terms import Head, View
from diffusearch.tokens.values import BINS


class ValueHead(Head):
    """Logits of value variables: the linear or tied term alone."""

    def __init__(self, first: nn.Module) -> None:
        super().__init__()
        self.first = first

    def terms(self, view: View) -> Iterator[Tensor]:
        yield self.first(view)


class RootValue(nn.Module):
    """The auxiliary value of the root, from the mean of its places; the record has no variable for it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, BINS)

    def forward(self, root: Tensor) -> Tensor:
        """Hidden states [batch, given places, width] -> logits [batch, 128]."""
        logits: Tensor = self.out(root.mean(1))
        return logits
