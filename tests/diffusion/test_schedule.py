"""alpha_t, lambda_t and the times of training."""

from __future__ import annotations

import pytest
import torch

from diffusearch.diffusion.schedule import WEIGHTS, alpha, draw_times, time_weight
from diffusearch.errors import UserError

T = 20


def test_alpha_falls_from_one_to_zero() -> None:
    assert [float(alpha(t, T)) for t in (0, 5, 20)] == [1.0, 0.75, 0.0]


def test_lambda_of_the_bound_is_one_over_t() -> None:
    """The paper's (alpha_{t-1} - alpha_t) / (1 - alpha_t) under this schedule."""
    t = torch.arange(1, T + 1)
    bound = (alpha(t - 1, T) - alpha(t, T)) / (1.0 - alpha(t, T))
    assert torch.allclose(time_weight("reciprocal", t, T).double(), bound)


def test_other_lambdas() -> None:
    t = torch.tensor([1, 2, 20])
    assert time_weight("constant", t, T).tolist() == [1.0, 1.0, 1.0]
    assert time_weight("linear", t, T).tolist() == pytest.approx([1.0, 0.95, 0.05])
    with pytest.raises(UserError, match="square.*" + WEIGHTS[0]):
        time_weight("square", t, T)


def test_times_are_spread_evenly_over_a_batch() -> None:
    times = draw_times(5 * T, T, torch.Generator().manual_seed(3))
    assert torch.bincount(times, minlength=T + 1).tolist() == [0] + [5] * T


def test_times_are_uniform_over_batches() -> None:
    generator = torch.Generator().manual_seed(4)
    times = torch.cat([draw_times(3, T, generator) for _ in range(4000)])
    counts = torch.bincount(times, minlength=T + 1)[1:].float() / len(times)
    assert counts.sub(1 / T).abs().max() < 0.006  # five standard deviations
    assert times.min() == 1
    assert times.max() == T


def test_a_share_of_records_is_fully_noised() -> None:
    times = draw_times(8000, T, torch.Generator().manual_seed(5), full_noise=0.5)
    assert float((times == T).float().mean()) == pytest.approx(0.5 + 0.5 / T, abs=0.03)
    assert bool((draw_times(100, T, torch.Generator(), full_noise=1.0) == T).all())
