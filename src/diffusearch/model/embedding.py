"""Variables -> places: each place starts as the sum of the embeddings of the variables it carries."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout


def summed(rows: Tensor, table: Tensor, nothing: int | None = None) -> Tensor:
    """The sums [n, width] of the rows of a table that [n, k] indices name; the row `nothing` counts as zeros.

    Bags are fast, but other runtimes know them only as loops: an exported model gathers and adds.
    """
    if not torch.compiler.is_exporting():
        return F.embedding_bag(rows, table, mode="sum", padding_idx=nothing)
    gathered = F.embedding(rows, table)
    return (gathered if nothing is None else gathered * (rows != nothing)[..., None]).sum(1)


class Embedding(nn.Module):
    """One table of token vectors, a mask vector for each kind of variable, and a vector for each place.

    `slotted`: every slot of a state has rows of its own, so a place can tell its squares apart (needed where it
    carries more than one); otherwise variables of one type share rows, as characters do in the paper.
    """

    def __init__(
        self, layout: Layout, width: int, *, slotted: bool, learned_positions: bool, named_moves: bool = False
    ) -> None:
        super().__init__()
        self.layout, self.slotted = layout, slotted
        self.rows: dict[object, int] = {}  # kind of variable -> its first row
        total = 0
        for variable in range(layout.variables):
            kind = self._kind(layout, variable)
            if kind not in self.rows:
                self.rows[kind] = total
                total += int(layout.sizes[variable]) + 1  # the last one is the mask
        self.padding = total
        # With named moves, a move's vector is its own row plus those of the squares that it leaves and reaches, which
        # are large enough to be heard next to the hidden states of the root.
        named = named_moves and "action" in self.rows
        self.squares = nn.Parameter(torch.randn(2 * 64, width) * 0.25) if named else None
        self.table = nn.Parameter(torch.randn(total + 1, width) * 0.02)
        with torch.no_grad():
            self.table[self.padding] = 0.0
        self.places = nn.Parameter(torch.randn(layout.places, width) * 0.02) if learned_positions else None
        self._indices: dict[int, tuple[Tensor, Tensor]] = {}
        self._kept: tuple[object, Tensor] | None = None  # the vocabulary, and of which weights it is

    def _kind(self, layout: Layout, variable: int) -> object:
        kind = layout.types[variable]
        if self.slotted and kind not in ("action", "value"):
            segment = next(s for s in reversed(layout.segments) if s.start <= variable)
            return variable - segment.start
        return kind

    def vocabulary(self) -> Tensor:
        """The table of all token vectors [rows, width]. In play it is made once and kept until the weights change."""
        if self.squares is None:
            return self.table
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self._vocabulary(self.squares)
        weights = (self.table, self.squares)
        state = tuple((weight.data_ptr(), weight.device, weight.dtype, weight._version) for weight in weights)
        if self._kept is None or self._kept[0] != state:
            self._kept = state, self._vocabulary(self.squares)
        return self._kept[1]

    def _vocabulary(self, named_by: Tensor) -> Tensor:
        source, target = (torch.from_numpy(squares).to(named_by.device) for squares in (moves.SOURCE, moves.TARGET))
        named = named_by[source] + named_by[64 + target]
        start = self.rows["action"]
        return self.table + F.pad(named, (0, 0, start, len(self.table) - start - len(named)))

    def type_rows(self, kind: str, size: int) -> Tensor:
        """The rows [size, width] of a type's vocabulary without its mask (for tied output weights)."""
        start = self.rows[kind]
        return self.vocabulary()[start : start + size]

    def indices(self, layout: Layout) -> tuple[Tensor, Tensor]:
        """First row of each variable [variables], and the variables of each place [places, k] (padded with -1)."""
        if layout.horizon not in self._indices:
            carried: list[list[int]] = [[] for _ in range(layout.places)]
            for variable, place in enumerate(layout.place_of):
                carried[int(place)].append(variable)
            most = max(len(c) for c in carried)
            with torch.inference_mode(False):  # whoever asks first: the indices must serve training too
                base = torch.tensor([self.rows[self._kind(layout, v)] for v in range(layout.variables)])
                patches = torch.tensor([c + [-1] * (most - len(c)) for c in carried])
            self._indices[layout.horizon] = (base, patches)
        base, patches = self._indices[layout.horizon]
        if base.device != self.table.device:
            base, patches = base.to(self.table.device), patches.to(self.table.device)
            self._indices[layout.horizon] = (base, patches)
        return base, patches

    def forward(self, tokens: Tensor, layout: Layout, start: int = 0, end: int | None = None) -> Tensor:
        """Tokens [batch, variables] (at least those of the places start..end) -> [batch, end - start, width]."""
        _, patches = self.indices(layout)
        return self._placed(self._summed(tokens, layout, patches[start:end], self.vocabulary()), start)

    def state(self, tokens: Tensor, layout: Layout) -> Tensor:
        """The tokens of one state [batch, slots] -> its places [batch, places of a state, width], without positions."""
        _, patches = self.indices(layout)
        return self._summed(tokens, layout, patches[: len(layout.state_places)], self.table)

    def _summed(self, tokens: Tensor, layout: Layout, patches: Tensor, table: Tensor) -> Tensor:
        """The sums [batch, places, width] of the rows of a table that the variables of some places name."""
        base, _ = self.indices(layout)
        tokens = tokens.to(base.device)
        rows = F.pad(tokens + base[: tokens.shape[1]], (0, 1), value=self.padding)  # the last column serves index -1
        bags = rows[:, patches.reshape(-1)].view(-1, patches.shape[1])
        return summed(bags, table, self.padding).view(tokens.shape[0], patches.shape[0], -1)

    def vectors(self, tokens: Tensor, layout: Layout) -> Tensor:
        """The vector of every variable [batch, variables, width] (for the Gaussian process)."""
        base, _ = self.indices(layout)
        return F.embedding(tokens.to(base.device) + base[: tokens.shape[1]], self.vocabulary())

    def gather(self, vectors: Tensor, layout: Layout, start: int = 0) -> Tensor:
        """Vectors of variables [batch, variables, width] -> places [batch, places - start, width]."""
        _, patches = self.indices(layout)
        padded = F.pad(vectors, (0, 0, 0, 1))
        return self._placed(padded[:, patches[start:]].sum(2), start)

    def _placed(self, x: Tensor, start: int) -> Tensor:
        return x if self.places is None else x + self.places[start : start + x.shape[1]]
