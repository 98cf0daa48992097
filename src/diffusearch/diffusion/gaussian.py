"""Gaussian diffusion on embeddings: a variational diffusion model (Kingma et al. 2021) of the tokens' own vectors.

A variable's vector e(x_0), held at a fixed length, is mixed with Gaussian noise: z_t = alpha_t e + sigma_t eps with
alpha_t^2 + sigma_t^2 = 1 and a log signal-to-noise ratio that falls linearly in t = 1..T. The network predicts logits
of x_0 from z_t, and with them the expected vector. The bound has the paper's three parts: the prior's is a constant
(all vectors are equally long), each t >= 2 gives 1/2 (SNR(t-1) - SNR(t)) |e - e_expected|^2, and t = 1 the
cross-entropy of reading x_0 off z_1. Orders have no meaning here: every variable stays open until the last step.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.diffusion.decoding import Bools, Decoding, Floats, Ints, choose, first_move, log_softmax, picked
from diffusearch.diffusion.loss import Losses, cross_entropy, variable_weights
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.diffusion.sampling import Sample, SampleFrame, certain
from diffusearch.diffusion.schedule import draw_times
from diffusearch.diffusion.steps import time_grid
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Group, Layout

_LENGTH = 4.0  # of every vector; with noise of 1 in each dimension, SNR alone says how much is known
_LOG_SNR = (3.0, -6.0)  # at t = 1 tokens are plain to see; at t = T two of them differ by 0.08 nats at most
_INPUT = 0.02  # what the trunk is used to: the scale of its own embeddings


class Gaussian:
    """q(z_t | x_0) = N(alpha_t e(x_0), sigma_t^2)."""

    def __init__(self, timesteps: int = 20) -> None:
        self.timesteps = timesteps

    def snr(self, t: Tensor | int) -> Tensor:
        """Signal-to-noise ratio alpha_t^2 / sigma_t^2 at times t in 1..T."""
        high, low = _LOG_SNR
        position = (torch.as_tensor(t, dtype=torch.float32) - 1.0) / max(1, self.timesteps - 1)
        return torch.exp(high + (low - high) * position)

    def corrupt(self, tokens: Tensor, layout: Layout, t: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """How clean each variable is [batch, variables] (alpha_t; 1 at the root), and which are noised.

        What is noised here are vectors, which only the network knows: see `noised_vectors`.
        """
        snr = self.snr(t)
        signal = torch.sqrt(snr / (1.0 + snr))[:, None].expand(tokens.shape).clone()
        signal[:, : layout.given_variables] = 1.0
        return signal, signal < 1.0

    def loss(
        self, net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Losses, Tensor]:
        """The loss of a batch at random times, and the hidden states it was read from."""
        t = draw_times(len(batch.tokens), self.timesteps, generator, config.full_noise)
        signal, noised = self.corrupt(batch.tokens, layout, t, generator)
        signal = torch.where(batch.known | ~noised, signal, 0.0)  # what is unknown is pure noise
        clean = token_vectors(net, batch.tokens, layout)
        z = noised_vectors(clean, signal, generator)
        hidden = net.hidden_of_vectors(z * _INPUT, layout, batch.tokens[:, : layout.given_variables])
        logits = net.logits(hidden, layout, tokens=batch.tokens[:, : layout.given_variables])
        losses = cross_entropy(logits, batch, layout, noised, (t == 1).float(), config)
        weights = variable_weights(batch, layout, config) * noised
        rate = torch.where(t == 1, 0.0, 0.5 * (self.snr(t - 1) - self.snr(t)))
        weights, rate = weights.to(clean.device), rate.to(clean.device)
        total = torch.zeros((), device=clean.device)
        for group in layout.groups:
            index = torch.from_numpy(group.variables)
            # The vectors are the code here, not what is learnt: else making all alike would be the cheapest way out.
            expected = expected_vectors(net, logits[group.type], layout, group)
            missed = (clean[:, index].detach() - expected).square().sum(-1)
            total = total + (missed * weights[:, index] * rate[:, None]).sum()
        losses.total = losses.total + total / (len(t) * (layout.variables - layout.given_variables))
        return losses, hidden

    @torch.inference_mode()
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
        """Given variables [batch, given variables] -> a whole record, by ancestral sampling."""
        decoding.refuse_easy_first("Gaussian")
        batch, fixed = given.shape
        masks = np.broadcast_to(layout.sizes[fixed:], (batch, layout.variables - fixed))
        x = np.concatenate([given, masks], axis=1)
        tokens = torch.from_numpy(given)
        root = token_vectors(net, tokens, layout)
        chance = torch.Generator().manual_seed(int(generator.integers(2**62)))  # of the vectors' noise
        z = torch.randn((*masks.shape, root.shape[-1]), generator=chance).to(root.device)
        likelihood = np.zeros(masks.shape)
        frames = [SampleFrame(x.copy(), certain(fixed, likelihood))] if film else []
        moves = raw_moves = value = None
        grid = time_grid(decoding.steps, self.timesteps)
        for now, after in pairwise(grid):
            hidden = net.hidden_of_vectors(torch.cat([root, z], dim=1) * _INPUT, layout, tokens)
            if value is None and net.root_value is not None:
                value = net.value_logits(hidden, layout).float().numpy()
            expected = torch.empty_like(z)
            every = net.logits(hidden, layout, tokens=tokens)
            for group in layout.groups:
                columns = group.variables - fixed
                logits: Floats = every[group.type].float().numpy()
                if group.type == "action":
                    logits, moves, raw_moves = first_move(logits, allowed, decoding)
                chosen = choose(logits, decoding.temperature if after == 0 else 0.0, generator)
                x[:, group.variables] = chosen
                likelihood[:, columns] = picked(log_softmax(logits), chosen)
                expected[:, torch.from_numpy(columns)] = expected_vectors(net, torch.from_numpy(logits), layout, group)
            if after > 0:
                z = self.step_back(z, expected, now, after, chance)
            if film:  # what is likelier than not
                seen = likelihood > math.log(0.5) if after > 0 else np.ones(masks.shape, dtype=bool)
                shown = np.concatenate([given, np.where(seen, x[:, fixed:], masks)], axis=1)
                frames.append(SampleFrame(shown, certain(fixed, np.exp(likelihood)), moves))
        calls = np.full(batch, len(grid) - 1)
        return Sample(x, likelihood.sum(1), moves, raw_moves, calls, frames, value, calls)

    def step_back(self, z: Tensor, clean: Tensor, now: int, after: int, generator: torch.Generator) -> Tensor:
        """A draw from q(z_after | z_now, e): [batch, variables, width] for times T >= now > after >= 1."""
        high, low = (1.0 / (1.0 + float(self.snr(t))) for t in (now, after))  # sigma^2
        step = math.sqrt((1.0 - high) / (1.0 - low))  # alpha_now / alpha_after
        between = high - step**2 * low  # variance added from `after` to `now`
        mean = step * low / high * z + math.sqrt(1.0 - low) * between / high * clean
        return mean + math.sqrt(between * low / high) * torch.randn(z.shape, generator=generator).to(z.device)


def token_vectors(net: Denoiser, tokens: Tensor, layout: Layout) -> Tensor:
    """e(x): vectors [batch, variables, width] of fixed length."""
    return F.normalize(net.embedding.vectors(tokens, layout).float(), dim=-1) * _LENGTH


def noised_vectors(clean: Tensor, signal: Tensor, generator: torch.Generator) -> Tensor:
    """alpha e + sigma eps for alpha [batch, variables]; where alpha is 1 the vector is untouched."""
    noise, signal = torch.randn(clean.shape, generator=generator).to(clean.device), signal.to(clean.device)
    return signal[..., None] * clean + torch.sqrt(1.0 - signal**2)[..., None] * noise


def expected_vectors(net: Denoiser, logits: Tensor, layout: Layout, group: Group) -> Tensor:
    """The mean vector under the predicted tokens: logits [batch, n, vocabulary] -> [batch, n, width]."""
    base, _ = net.embedding.indices(layout)
    rows = base[torch.from_numpy(group.variables)][:, None] + torch.arange(group.size, device=base.device)
    vectors = F.normalize(F.embedding(rows, net.embedding.vocabulary().detach()).float(), dim=-1) * _LENGTH
    return torch.einsum("bnv,nvw->bnw", logits.float().to(base.device).softmax(-1), vectors)
