"""Places that hardly change need not be computed again: kept keys and values while a record is being denoised.

Every place is computed in the first step; its keys and values of every layer are kept. Later steps compute only
    what was fixed in the last step, now with its true tokens: after that a settled place is never computed again;
    what is still noised: all of it or, with `ahead`, the places that may be fixed next, which are the easiest so far,
    `ahead` times as many as are to be fixed, and the first move's in any case.
All others are seen by these as they were when they were computed last. So this is an approximation: a kept place does
not hear of what is fixed after it. (The root under prefix attention never does: keeping that is exact, and done with
and without this memory.) What matters most is not left to it: the call that fixes the first move is made once more
with all places (diffusion/sampling.py).
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

    def __init__(self, net: Denoiser, layout: Layout, root: Root | None, batch: int, ahead: int | None) -> None:
        if net.shift:
            raise UserError("cache = true needs attention 'full' or 'prefix': causal places see in one direction")
        self.net, self.layout, self.root, self.ahead = net, layout, root, ahead
        self.first = 0 if root is None else layout.given_places  # the first place that is not the root's affair
        self.shelves = [Shelf(layout.places) for _ in range(net.config.trunk.layers)]
        device = net.embedding.table.device
        # [batch, places]: what was never computed, or was computed with tokens that were not its true ones yet
        self.stale = torch.ones(batch, layout.places, dtype=torch.bool, device=device)
        self.known = torch.zeros(batch, layout.places, net.config.trunk.width, device=device)
        if root is not None:
            where, shape = torch.arange(self.first, device=device).expand(batch, -1), (batch, -1, -1, -1)
            for shelf, (keys, values) in zip(self.shelves, root.past, strict=True):
                shelf.put(keys.expand(shape), values.expand(shape), where)
            self.known[:, : self.first] = root.hidden
            self.stale[:, : self.first] = False
        self.begun = False

    def hidden(self, tokens: Tensor, fixed: Tensor, ease: Tensor, due: int) -> Tensor:
        """Hidden states [batch, places, width] of tokens [batch, variables], of which `fixed` [same] change no more.

        `ease` [batch, variables] says which of the others come first, and `due` how many variables this step fixes.
        """
        places = self._places(fixed, ease, due)
        batch, _, width = self.known.shape
        record = torch.arange(batch, device=places.device)[:, None]
        start = self.net.start(tokens, self.layout, self.root)
        rows = (places - self.first + record * start.shape[1]).flatten()  # whole rows are copied fastest
        start = start.reshape(-1, width).index_select(0, rows).view(batch, -1, width)
        new, _ = self.net.trunk(start, self.shelves, places)
        self.known.view(-1, width)[(places + record * self.layout.places).flatten()] = new.reshape(-1, width)
        return self.known

    def _places(self, fixed: Tensor, ease: Tensor, due: int) -> Tensor:
        """The places [batch, n] to compute in this step."""
        _, patches = self.net.embedding.indices(self.layout)
        fixed, ease = fixed.to(patches.device), ease.to(patches.device)
        settled = F.pad(fixed, (0, 1), value=True)[:, patches].all(2)
        fresh = settled & self.stale  # fixed, and not yet computed so
        if self.ahead is None or not self.begun:
            needed = fresh | ~settled
            count = int(needed.sum(1).max())  # in rows with fewer, others are merely computed once more
            urgency = needed.float()
        else:
            count = int(fresh.sum(1).max()) + self.ahead * due + 1
            open_ease = F.pad(ease.masked_fill(fixed, -torch.inf), (0, 1), value=-torch.inf)
            urgency = open_ease[:, patches].amax(2).masked_fill(fresh, torch.inf)  # of a place: its easiest variable
            move = self.layout.segment("a", 0)
            if move is not None and not move.given:
                urgency[:, move.place].masked_fill_(~settled[:, move.place], torch.inf)
        self.begun = True
        ours = urgency[:, self.first :]
        places = self.first + ours.topk(min(count, ours.shape[1]), dim=1).indices
        self.stale &= ~torch.zeros_like(settled).scatter_(1, places, True) | ~settled
        return places
