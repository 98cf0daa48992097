"""Key-value cache: a denoising step computes some places and reuses the keys and values of the others.

The first step computes every place and keeps its keys and values of every layer. A later step computes only
    places that were fixed in the last step, once with their final tokens and never again;
    places that are still noised: all of them or, with `ahead`, the easiest, `ahead` times as many as the step fixes,
    and the place of the first move.
These attend to all other places as they were when they were computed last. This is an approximation: a cached place
does not see what is fixed after it. (The root under prefix attention never does: its cache is exact, and is used with
and without this one.) The step that fixes the first move computes all places (diffusion/sampling.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.tokens.layout import Layout

if TYPE_CHECKING:
    from diffusearch.model.denoiser import Denoiser, Root

KeysValues = tuple[Tensor, Tensor]  # of one layer: [batch, heads, places, head width] each
Past = list[KeysValues]  # of all layers


class LayerCache:
    """One layer's keys and values of all places; new ones overwrite those of the same places."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.keys_values: KeysValues | None = None

    def write(self, key: Tensor, value: Tensor, where: Tensor) -> KeysValues:
        """Keys and values [batch, heads, n, head width] of the places `where` [batch, n] -> those of all places."""
        if self.keys_values is None:
            batch, heads, _, head = key.shape
            shape = (batch, heads, self.places, head)
            self.keys_values = key.new_zeros(shape), value.new_zeros(shape)
        index = where[:, None, :, None].expand_as(key)
        self.keys_values[0].scatter_(2, index, key)
        self.keys_values[1].scatter_(2, index, value)
        return self.keys_values


class KVCache:
    """The hidden states of records that are being denoised; one cache serves one decoding."""

    def __init__(self, net: Denoiser, layout: Layout, root: Root | None, batch: int, ahead: int | None) -> None:
        net.config.check_cache()
        self.net, self.layout, self.root, self.ahead = net, layout, root, ahead
        self.first = 0 if root is None else layout.given_places  # the first place that this cache computes
        self.layers = [LayerCache(layout.places) for _ in range(net.config.trunk.layers)]
        device, dtype = net.embedding.table.device, net.embedding.table.dtype
        # [batch, places]: not computed yet, or computed before its tokens were final
        self.stale = torch.ones(batch, layout.places, dtype=torch.bool, device=device)
        self.kept = torch.zeros(batch, layout.places, net.config.trunk.width, device=device, dtype=dtype)
        if root is not None:
            where, shape = torch.arange(self.first, device=device).expand(batch, -1), (batch, -1, -1, -1)
            for layer, (keys, values) in zip(self.layers, root.past, strict=True):
                layer.write(keys.expand(shape), values.expand(shape), where)
            self.kept[:, : self.first] = root.hidden
            self.stale[:, : self.first] = False
        self.begun = False

    def hidden(self, tokens: Tensor, fixed: Tensor, ease: Tensor, due: int) -> Tensor:
        """Hidden states [batch, places, width] of tokens [batch, variables]; `fixed` [same] marks final tokens.

        `ease` [batch, variables] orders the others (higher is fixed earlier); this step fixes `due` variables.
        """
        places = self._places(fixed, ease, due)
        batch, _, width = self.kept.shape
        record = torch.arange(batch, device=places.device)[:, None]
        start = self.net.start(tokens, self.layout, self.root)
        rows = (places - self.first + record * start.shape[1]).flatten()  # copying whole rows is fastest
        start = start.reshape(-1, width).index_select(0, rows).view(batch, -1, width)
        new, _ = self.net.trunk(start, self.layers, places)
        self.kept.view(-1, width)[(places + record * self.layout.places).flatten()] = new.reshape(-1, width)
        return self.kept

    def _places(self, fixed: Tensor, ease: Tensor, due: int) -> Tensor:
        """The places [batch, n] that this step computes."""
        _, patches = self.net.embedding.indices(self.layout)
        fixed, ease = fixed.to(patches.device), ease.to(patches.device)
        settled = F.pad(fixed, (0, 1), value=True)[:, patches].all(2)
        fresh = settled & self.stale  # final tokens, and not computed with them yet
        if self.ahead is None or not self.begun:
            needed = fresh | ~settled
            count = int(needed.sum(1).max())  # rows that need fewer compute some places once more
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
