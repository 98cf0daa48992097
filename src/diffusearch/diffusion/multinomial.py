"""Multinomial diffusion: a variable is noised by becoming any token of its own vocabulary, all equally likely.

The network cannot see which variables are noise. Loss and decoding are reparameterised (Zheng et al. 2023): the loss
is the weighted cross-entropy where x_t != x_0, and decoding remembers which variables it has fixed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Bools, Decoding, Ints
from diffusearch.diffusion.loss import Losses, cross_entropy
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.diffusion.sampling import Sample, denoise
from diffusearch.diffusion.schedule import alpha, draw_times, time_weight
from diffusearch.diffusion.torch_network import TorchNetwork
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout


def uniform_tokens(sizes: Tensor, shape: torch.Size, generator: torch.Generator) -> Tensor:
    """Tokens of `shape`, each uniform over its vocabulary; sizes are those of the last dimension."""
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * sizes).long()


class Multinomial:
    """q(x_t | x_0): clean with probability alpha_t = 1 - t/T, else uniform (which may be x_0 again)."""

    def __init__(self, timesteps: int = 20) -> None:
        self.timesteps = timesteps

    def corrupt(self, tokens: Tensor, layout: Layout, t: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens [batch, variables] at times t [batch] -> noised tokens, and where they differ. The root never does."""
        replaced = torch.rand(tokens.shape, generator=generator) < (t.float() / self.timesteps)[:, None]
        replaced[:, : layout.given_variables] = False
        x = torch.where(replaced, uniform_tokens(torch.from_numpy(layout.sizes), tokens.shape, generator), tokens)
        return x, x != tokens

    def loss(
        self, net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Losses, Tensor]:
        """The loss of a batch at random times, and the hidden states it was read from."""
        t = draw_times(len(batch.tokens), self.timesteps, generator, config.full_noise)
        x, noised = self.corrupt(batch.tokens, layout, t, generator)
        unknown = ~batch.known  # pure noise whatever t is, and without loss
        unknown[:, : layout.given_variables] = False
        x = torch.where(unknown, uniform_tokens(torch.from_numpy(layout.sizes), x.shape, generator), x)
        hidden = net.hidden(x, layout)
        lambdas = time_weight(config.time_weight, t, self.timesteps)
        return cross_entropy(net.logits(hidden, layout, tokens=x), batch, layout, noised, lambdas, config), hidden

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
        sizes = layout.sizes[layout.given_variables :]

        def noise(tokens: Ints, now: int, after: int) -> Ints:
            return self.noise(tokens, sizes, now, after, generator)

        network = TorchNetwork(net, given, layout, decoding)
        return denoise(network, given, layout, decoding, self.timesteps, generator, allowed, noise, film)

    def noise(self, tokens: Ints, sizes: Ints, now: int, after: int, generator: np.random.Generator) -> Ints:
        """Resamples noised tokens from time `now` to `after`.

        Each is replaced by a uniform token with probability beta; masks always are. This is the posterior
        (1 - beta) x_t + beta uniform.
        """
        beta = 1.0 if now == self.timesteps else 1.0 - float(alpha(now, self.timesteps) / alpha(after, self.timesteps))
        redrawn = generator.random(tokens.shape) < beta
        return np.where(redrawn | (tokens == sizes), generator.integers(0, sizes, tokens.shape), tokens)
