"""Places that no longer change need not be computed again: a delayed key/value cache of fixed variables.

Denoising fixes variables for good. A place whose variables are all fixed is computed once more, now with its true
tokens; after that its keys and values of every layer are kept, as `past` of the places that are still computed. With
full attention the root's places, which were never noised, are kept from the second step on.

This is exact in a net of one layer, whose keys and values depend on a place's own tokens alone (unless a head or the
grounding reads other places too). In deeper nets it is an approximation: a kept place no longer hears of what is fixed
after it. (The root under prefix attention never does: keeping that is exact, and done with and without this memory.)
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.model.trunk import Shelf
from diffusearch.tokens.layout import Layout


class Memory:
    """The hidden states of records that are being denoised; one memory serves one decoding."""

    def __init__(self, net: Denoiser, layout: Layout, root: Root | None, batch: int) -> None:
        if net.shift:
            raise UserError("cache = true needs attention 'full' or 'prefix': causal places see in one direction")
        self.net, self.layout, self.root = net, layout, root
        self.first = 0 if root is None else layout.given_places  # the first place that is not the root's affair
        self.shelves = [Shelf(layout.places) for _ in range(net.config.trunk.layers)]
        if root is not None:
            for shelf, past in zip(self.shelves, root.past, strict=True):
                shelf.put(*past)
                shelf.filled = self.first
        # Nobody reads the hidden state of a settled place, unless moves are scored by squares or there is a root value.
        self.mute = net.heads.source_target is None and net.root_value is None
        device = net.embedding.table.device
        # The places to compute next [batch, n]. Their order is free: nothing but their embeddings tells them apart.
        self.places = torch.arange(self.first, layout.places, device=device).expand(batch, -1)
        self.known = torch.zeros(batch, layout.places, net.config.trunk.width, device=device)
        if root is not None:
            self.known[:, : self.first] = root.hidden

    def hidden(self, tokens: Tensor, fixed: Tensor) -> Tensor:
        """Hidden states [batch, places, width] of tokens [batch, variables], of which `fixed` [same] change no more."""
        _, patches = self.net.embedding.indices(self.layout)
        settled = F.pad(fixed.to(patches.device), (0, 1), value=True)[:, patches].all(2).gather(1, self.places)
        count = int(settled.sum(1).min())  # rows keep the same number; the rest of a row is merely computed once more
        # Those to be kept come first, right behind what is kept already, so that keeping them is a mere slice.
        self.places = self.places.gather(1, settled.int().argsort(dim=1, descending=True, stable=True))
        batch, _, width = self.known.shape
        record = torch.arange(batch, device=self.places.device)[:, None]
        start = self.net.start(tokens, self.layout, self.root)
        rows = (self.places - self.first + record * start.shape[1]).flatten()  # whole rows are copied fastest
        start = start.reshape(-1, width).index_select(0, rows).view(batch, -1, width)
        mute = count if self.mute else 0
        new, _ = self.net.trunk(start, self.shelves, self.places, mute)
        heard = (self.places[:, mute:] + record * self.layout.places).flatten()
        self.known.view(-1, width)[heard] = new.reshape(-1, width)
        self.places = self.places[:, count:]
        for shelf in self.shelves:
            shelf.filled += count
        return self.known
