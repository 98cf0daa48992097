"""One small interface for every way to train and decode: corrupt, loss, sample."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.autoregressive import Autoregressive
from diffusearch.diffusion.decoding import Bools, Decoding, Ints
from diffusearch.diffusion.gaussian import Gaussian
from diffusearch.diffusion.loss import Losses
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.diffusion.multinomial import Multinomial
from diffusearch.diffusion.sampling import Sample
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout

KINDS = ("absorbing", "direct", "multinomial", "gaussian", "autoregressive")


class Process(Protocol):
    """A noise process wraps a denoiser; the denoiser knows nothing of time."""

    timesteps: int

    def corrupt(self, tokens: Tensor, layout: Layout, t: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens [batch, variables] at times t [batch] -> noised tokens, and which variables differ or are noised."""

    def loss(
        self, net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Losses, Tensor]:
        """The loss of a batch at random times, and the hidden states [batch, places, width] it was read from."""

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
        """Given variables [batch, given variables], allowed first moves [batch, moves] -> whole records."""


def make_process(kind: str, timesteps: int) -> Process:
    """The process of a recipe."""
    if timesteps < 1:
        raise UserError(f"process.timesteps is at least 1, not {timesteps}")
    if kind == "absorbing":
        return Absorbing(timesteps)
    if kind == "direct":  # the whole future at once: one step from all masked to all clean
        return Absorbing(1)
    if kind == "multinomial":
        return Multinomial(timesteps)
    if kind == "gaussian":
        return Gaussian(timesteps)
    if kind == "autoregressive":
        return Autoregressive()
    raise UserError(f"process.kind {kind!r} is unknown: choose one of {', '.join(KINDS)}")
