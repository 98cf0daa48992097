"""The noise schedule alpha_t = 1 - t/T, the weights lambda_t of the loss, and how t is drawn in training."""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.errors import UserError

WEIGHTS = ("constant", "reciprocal", "linear")


def alpha(t: Tensor | int, timesteps: int) -> Tensor:
    """The probability that a variable is still clean at time t in 0..T."""
    return 1.0 - torch.as_tensor(t, dtype=torch.float64) / timesteps


def time_weight(kind: str, t: Tensor, timesteps: int) -> Tensor:
    """lambda_t for t in 1..T: 1, 1/t (the variational bound under this schedule) or 1 - (t-1)/T (the paper's best)."""
    if kind == "constant":
        return torch.ones_like(t, dtype=torch.float32)
    if kind == "reciprocal":
        return 1.0 / t.float()
    if kind == "linear":
        return 1.0 - (t.float() - 1.0) / timesteps
    raise UserError(f"time weight {kind!r} is unknown: choose one of {', '.join(WEIGHTS)}")


def draw_times(count: int, timesteps: int, generator: torch.Generator, full_noise: float = 0.0) -> Tensor:
    """Times [count] in 1..T, each uniform, spread evenly over the batch (antithetic: lower variance for free).

    A share `full_noise` of the records gets t = T instead: there the move is decided from the root alone.
    """
    start = torch.rand((), generator=generator)
    even = (torch.arange(count) / count + start) % 1.0
    times = (even[torch.randperm(count, generator=generator)] * timesteps).long() + 1
    if full_noise > 0:
        times[torch.rand(count, generator=generator) < full_noise] = timesteps
    return times.clamp(max=timesteps)
