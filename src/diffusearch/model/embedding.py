"""Token embeddings: a place starts as the sum of the vectors of the variables it carries, plus its position."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.rows import TableRows
from diffusearch.model.tables import sum_rows
from diffusearch.tokens.layout import Layout


class Embedding(nn.Module):
    """One table of token vectors with a mask vector for each kind of variable, and a position vector for each place.

    `slotted`: every slot of a state has rows of its own, so that a place with several slots can tell them apart.
    Otherwise variables of one type share rows, as characters do in the paper.
    `added`: modules that return further vectors [size, width], to be added to the rows of a type.
    """

    def __init__(
        self,
        layout: Layout,
        width: int,
        *,
        slotted: bool = False,
        learned_positions: bool = True,
        added: Mapping[str, nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.layout = layout
        self.table_rows = TableRows(layout, slotted)
        self.rows, self.padding = self.table_rows.first, self.table_rows.padding
        self.table = nn.Parameter(torch.randn(self.padding + 1, width) * 0.02)
        with torch.no_grad():
            self.table[self.padding] = 0.0
        self.places = nn.Parameter(torch.randn(layout.places, width) * 0.02) if learned_positions else None
        self.added = nn.ModuleDict(added or {})
        self._indices: dict[int, tuple[Tensor, Tensor]] = {}
        self._kept: tuple[object, Tensor] | None = None  # the vocabulary in play, and the weights it was made from

    def vocabulary(self) -> Tensor:
        """All token vectors [rows, width]. Without gradients they are computed once and kept until weights change."""
        if not self.added:
            return self.table
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self._vocabulary()
        weights = (self.table, *self.added.parameters())
        state = tuple((weight.data_ptr(), weight.device, weight.dtype, weight._version) for weight in weights)
        if self._kept is None or self._kept[0] != state:
            self._kept = state, self._vocabulary()
        return self._kept[1]

    def _vocabulary(self) -> Tensor:
        table: Tensor = self.table
        for kind, module in self.added.items():
            vectors, start = module(), self.rows[kind]
            table = table + F.pad(vectors, (0, 0, start, len(table) - start - len(vectors)))
        return table

    def type_rows(self, kind: str, size: int) -> Tensor:
        """The token vectors [size, width] of a type without its mask (for tied output weights)."""
        start = self.rows[kind]
        return self.vocabulary()[start : start + size]

    def indices(self, layout: Layout) -> tuple[Tensor, Tensor]:
        """The first row of each variable [variables], and the variables of each place [places, k] (padded with -1)."""
        if layout.horizon not in self._indices:
            rows, carried = self.table_rows.indices(layout)
            with torch.inference_mode(False):  # training uses the same indices
                self._indices[layout.horizon] = (torch.from_numpy(rows), torch.from_numpy(carried))
        base, patches = self._indices[layout.horizon]
        if base.device != self.table.device:
            base, patches = base.to(self.table.device), patches.to(self.table.device)
            self._indices[layout.horizon] = (base, patches)
        return base, patches

    def forward(self, tokens: Tensor, layout: Layout, start: int = 0, end: int | None = None) -> Tensor:
        """Tokens [batch, variables] (at least those of the places start..end) -> [batch, end - start, width]."""
        _, patches = self.indices(layout)
        return self._positioned(self._summed(tokens, layout, patches[start:end], self.vocabulary()), start)

    def state(self, tokens: Tensor, layout: Layout) -> Tensor:
        """The tokens of one state [batch, slots] -> its places [batch, places of a state, width], without positions."""
        _, patches = self.indices(layout)
        return self._summed(tokens, layout, patches[: len(layout.state_places)], self.table)

    def _summed(self, tokens: Tensor, layout: Layout, patches: Tensor, table: Tensor) -> Tensor:
        """For some places [n, k] of variables the sums [batch, n, width] of their tokens' rows."""
        base, _ = self.indices(layout)
        tokens = tokens.to(base.device)
        rows = F.pad(tokens + base[: tokens.shape[1]], (0, 1), value=self.padding)  # the last column serves index -1
        bags = rows[:, patches.reshape(-1)].view(-1, patches.shape[1])
        return sum_rows(bags, table, self.padding).view(tokens.shape[0], patches.shape[0], -1)

    def vectors(self, tokens: Tensor, layout: Layout) -> Tensor:
        """The vector of every variable [batch, variables, width] (for the Gaussian process)."""
        base, _ = self.indices(layout)
        return F.embedding(tokens.to(base.device) + base[: tokens.shape[1]], self.vocabulary())

    def gather(self, vectors: Tensor, layout: Layout, start: int = 0) -> Tensor:
        """Vectors of variables [batch, variables, width] -> places [batch, places - start, width]."""
        _, patches = self.indices(layout)
        padded = F.pad(vectors, (0, 0, 0, 1))
        return self._positioned(padded[:, patches[start:]].sum(2), start)

    def _positioned(self, x: Tensor, start: int) -> Tensor:
        return x if self.places is None else x + self.places[start : start + x.shape[1]]
