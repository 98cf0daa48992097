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
from diffusearch.model.trunk import Past
from diffusearch.tokens.layout import Layout


class Memory:
    """The hidden states of records that are being denoised; one memory serves one decoding."""

    def __init__(self, net: Denoiser, layout: Layout, root: Root | None, batch: int) -> None:
        if net.shift:
            raise UserError("cache = true needs attention 'full' or 'prefix': causal places see in one direction")
        self.net, self.layout, self.root = net, layout, root
        self.first = 0 if root is None else layout.given_places  # the first place that is not the root's affair
        self.past: Past | None = None if root is None else root.past
        device = net.embedding.table.device
        # The places to compute next [batch, n]. Their order is free: nothing but their embeddings tells them apart.
        self.places = torch.arange(self.first, layout.places, device=device).expand(batch, -1)
        self.known = torch.empty(batch, layout.places, net.config.trunk.width, device=device)
        if root is not None:
            self.known[:, : self.first] = root.hidden

    def hidden(self, tokens: Tensor, fixed: Tensor) -> Tensor:
        """Hidden states [batch, places, width] of tokens [batch, variables], of which `fixed` [same] change no more."""
        _, patches = self.net.embedding.indices(self.layout)
        settled = F.pad(fixed.to(patches.device), (0, 1), value=True)[:, patches].all(2).gather(1, self.places)
        count = int(settled.sum(1).min())  # rows keep the same number; the rest of a row is merely computed once more
        # Those to be kept come first, right behind what is kept already, so that keeping them is a mere slice.
        self.places = self.places.gather(1, settled.int().argsort(dim=1, descending=True, stable=True))
        wide = self.places[..., None].expand(-1, -1, self.known.shape[2])
        start = self.net.start(tokens, self.layout, self.root).gather(1, wide - self.first)
        new, present = self.net.trunk(start, self.past, self.places)
        self.known.scatter_(1, wide, new)
        self.places = self.places[:, count:]
        end = present[0][0].shape[2] - self.places.shape[1]
        self.past = [(keys[:, :, :end], values[:, :, :end]) for keys, values in present]
        return self.known
