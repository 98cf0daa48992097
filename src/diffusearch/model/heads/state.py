"""The heads of state variables: linear or tied term + copy-gate term + castling-table term."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from diffusearch.model.heads.terms import Head, View
from diffusearch.model.residual_state import CastlingTable, copy_gates
from diffusearch.tokens.layout import Group, Layout


class StateHead(Head):
    """Logits of one type of state variable: squares, castling rights, clocks ..."""

    def __init__(self, first: nn.Module, layout: Layout, width: int, group: Group, *, residual_state: bool) -> None:
        super().__init__()
        self.first = first
        self.copy_gates = copy_gates(width, layout.per_place(group.type)) if residual_state else None
        # one variable holds all castling rights (the paper's four characters have no table)
        whole = group.type == "castling" and layout.encoding.name == "compact"
        self.castling_table = CastlingTable(group.size) if residual_state and whole else None

    def terms(self, view: View) -> Iterator[Tensor]:
        yield self.first(view)
        if self.copy_gates is None:
            return
        if (copies := view.copies) is None:
            raise ValueError("a model with the residual state needs the record's tokens to predict states")
        variables = view.indices.variables
        gates = view.by_variable(self.copy_gates(view.here), 2)
        yield copies.logits(gates, variables, view.group.size)
        if self.castling_table is not None:
            before = copies.tokens[:, variables, 0]
            rights = self.castling_table(before, copies.source[:, variables], copies.target[:, variables])
            yield rights.to(gates.dtype)
