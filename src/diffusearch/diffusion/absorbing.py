"""Absorbing diffusion: a noised variable becomes the mask and stays masked.

Direct prediction of the whole future (`kind = "direct"`) is the same process with a single time step.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Bools, Decoding, Ints
from diffusearch.diffusion.loss import Losses, cross_entropy
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.diffusion.patterns import first_state, ply_by_ply, root_policy
from diffusearch.diffusion.sampling import Sample, denoise
from diffusearch.diffusion.schedule import draw_times, time_weight
from diffusearch.diffusion.torch_network import TorchNetwork
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
        """The loss of a batch at random times, and the hidden states [batch, places, width] it was read from."""
        # a single variable has a loss only where it is noised, the same at every t: no record is left clean
        full_noise = 1.0 if layout.predicted == 1 else config.full_noise
        t = draw_times(len(batch.tokens), self.timesteps, generator, full_noise)
        x, counted = self.corrupt(batch.tokens, layout, t, generator)
        x, counted = self._patterns(x, counted, batch, layout, config, generator)
        unknown = ~batch.known  # always masked, and without loss
        unknown[:, : layout.given_variables] = False
        x = torch.where(unknown, torch.from_numpy(layout.sizes), x)
        root = net.read_root(x, layout) if config.root_policy > 0 and net.prefix else None
        if net.self_conditioning is not None and float(torch.rand((), generator=generator)) < 0.5:
            hidden = net.hidden(x, layout, root, self._estimate(net, x, layout))
        else:
            hidden = net.hidden(x, layout, root)
        lambdas = time_weight(config.time_weight, t, self.timesteps)
        losses = cross_entropy(net.logits(hidden, layout, tokens=x), batch, layout, counted, lambdas, config)
        if root is not None and layout.horizon > 1:
            first = root_policy(net, batch, layout, config, root)
            losses.total = losses.total + config.root_policy * first.total / layout.predicted
            losses.by_type["root_policy"], losses.action_hits = first.by_type["action"], first.action_hits
        return losses, hidden

    @staticmethod
    @torch.no_grad()
    def _estimate(net: Denoiser, x: Tensor, layout: Layout) -> Tensor:
        """Self-conditioning: the record [batch, variables] as a first pass predicts it; what is visible stays."""
        out = x.clone()
        for group, logits in zip(
            layout.groups, net.logits(net.hidden(x, layout), layout, tokens=x).values(), strict=True
        ):
            columns = torch.from_numpy(group.variables)
            out[:, columns] = torch.where(x[:, columns] == group.size, logits.argmax(-1).cpu(), x[:, columns])
        return out

    @staticmethod
    def _patterns(
        x: Tensor, counted: Tensor, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Noised tokens and what counts in the loss, with other noising patterns in a share of the records."""
        random_move = batch.random_move[:, None]
        if not (config.ply_by_ply > 0 or bool(random_move.any())) or layout.horizon == 1:
            return x, counted
        count = len(x)
        chosen = (torch.rand((count, 1), generator=generator) < config.ply_by_ply) | random_move
        noised, last = ply_by_ply(layout, count, generator)
        if bool(random_move.any()):
            later, state = first_state(layout)
            noised, last = torch.where(random_move, later, noised), torch.where(random_move, state, last)
        patterned = torch.where(noised, torch.from_numpy(layout.sizes), batch.tokens)
        return torch.where(chosen, patterned, x), torch.where(chosen, last, counted)

    def sample(
        self,
        net: Denoiser,
        given: Ints,
        layout: Layout,
        decoding: Decoding,
        generator: np.random.Generator,
        allowed: Bools | None = None,
        film: bool = False,
    ) -> Sample:
        """Given variables [batch, given variables] -> a whole record, by easy-first denoising."""
        network = TorchNetwork(net, given, layout, decoding)
        return denoise(network, given, layout, decoding, self.timesteps, generator, allowed, film=film)
