"""A denoiser in torch as easy-first denoising asks for it: numpy tokens in, numpy logits out.

Each call computes all places, or with `cache` (faster, not exact) only those that are noised or were fixed in the last
call: see diffusearch.model.kv_cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding, Floats, Ints
from diffusearch.diffusion.sampling import Progress
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.kv_cache import KVCache
from diffusearch.tokens.layout import Group, Layout


class TorchNetwork:
    """A denoiser and the roots [batch, given variables] of one decoding, computed once under prefix attention."""

    @torch.inference_mode()
    def __init__(self, net: Denoiser, given: Ints, layout: Layout, decoding: Decoding) -> None:
        self.net, self.given = net, given.shape[1]
        self.root = net.read_root(torch.from_numpy(given), layout) if net.prefix else None
        self.cache = None
        if decoding.cache:
            self.cache = KVCache(net, layout, self.root, len(given), decoding.ahead or None)
        self.value_logits: Floats | None = None

    @torch.inference_mode()
    def logits(self, x: Ints, layout: Layout, groups: Sequence[Group], progress: Progress | None) -> dict[str, Floats]:
        tokens = torch.from_numpy(x)
        hidden = self._hidden(tokens, layout, progress)
        if self.value_logits is None and self.net.root_value is not None:
            self.value_logits = self.net.value_logits(hidden, layout).float().numpy()
        every = self.net.logits(hidden, layout, tuple(groups), tokens=tokens)
        return {kind: logits.numpy() for kind, logits in every.items()}

    def _hidden(self, tokens: Tensor, layout: Layout, progress: Progress | None) -> Tensor:
        """Hidden states of the records; with self-conditioning they read what the last call predicted."""
        if progress is None:
            return self.net.hidden(tokens, layout, self.root)
        if self.cache is not None:
            fixed = F.pad(torch.from_numpy(progress.visible), (self.given, 0), value=True)
            ease = F.pad(torch.from_numpy(progress.ease), (self.given, 0))
            return self.cache.hidden(tokens, fixed, ease, progress.due)
        if progress.estimate is None or self.net.self_conditioning is None:
            return self.net.hidden(tokens, layout, self.root)
        return self.net.hidden(tokens, layout, self.root, torch.from_numpy(progress.estimate[:, : layout.variables]))
