"""Absorbing diffusion: a variable is noised by becoming the mask, and stays so.

`Direct` prediction of the whole future is the same process with a single time step.
"""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.loss import LossConfig, Losses, cross_entropy
from diffusearch.diffusion.sampling import Sample, denoise
from diffusearch.diffusion.schedule import draw_times, time_weight
from diffusearch.diffusion.views import first_state, glance, newest
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout


class Absorbing:
    """q(x_t | x_0): clean with probability alpha_t = 1 - t/T, else the mask."""

    def __init__(self, timesteps: int = 20) -> None:
        self.timesteps = timesteps

    def corrupt(self, tokens: Tensor, layout: Layout, t: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens [batch, variables] at times t [batch] -> noised tokens, and which are noised. The root never is."""
        noised = torch.rand(tokens.shape, generator=generator) < (t.float() / self.timesteps)[:, None]
        noised[:, : layout.given_variables] = False
        return torch.where(noised, torch.from_numpy(layout.sizes), tokens), noised

    def loss(
        self, net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Losses, Tensor]:
        """The loss of a batch at random times, and the hidden states it was read from."""
        # a lone variable has a loss only where it is noised, the same at every t: no record is wasted on it being clean
        full_noise = 1.0 if layout.predicted == 1 else config.full_noise
        t = draw_times(len(batch.tokens), self.timesteps, generator, full_noise)
        x, noised = self.corrupt(batch.tokens, layout, t, generator)
        masks, counted = torch.from_numpy(layout.sizes), noised
        tried = batch.random_move[:, None]
        if (config.ply_by_ply > 0 or bool(tried.any())) and layout.horizon > 1:
            grown = (torch.rand((len(t), 1), generator=generator) < config.ply_by_ply) | tried
            later, last = newest(layout, len(t), generator)
            if bool(tried.any()):
                behind, state = first_state(layout)
                later, last = torch.where(tried, behind, later), torch.where(tried, state, last)
            x = torch.where(grown, torch.where(later, masks, batch.tokens), x)
            counted = torch.where(grown, last, noised)
        unknown = ~batch.known  # noised whatever t is, and without loss
        unknown[:, : layout.given_variables] = False
        x = torch.where(unknown, masks, x)
        root = net.read_root(x, layout) if config.root_policy > 0 and net.prefix else None
        hidden = net.hidden(x, layout, root)
        lambdas = time_weight(config.time_weight, t, self.timesteps)
        losses = cross_entropy(net.logits(hidden, layout, tokens=x), batch, layout, counted, lambdas, config)
        if root is not None and layout.horizon > 1:
            first = glance(net, batch, layout, config, root)
            losses.total = losses.total + config.root_policy * first.total / layout.predicted
            losses.by_type["glance"], losses.action_hits = first.by_type["action"], first.action_hits
        return losses, hidden

    def sample(
        self,
        net: Denoiser,
        given: Tensor,
        layout: Layout,
        decoding: Decoding,
        generator: torch.Generator,
        allowed: Tensor | None = None,
        film: bool = False,
    ) -> Sample:
        """Given variables [batch, given variables] -> a whole record, by easy-first denoising."""
        return denoise(net, given, layout, decoding, self.timesteps, generator, allowed, film=film)
