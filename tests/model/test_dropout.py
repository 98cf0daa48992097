"""Dropout: its share, its scale, its gradient, and a stream of random numbers that a seed repeats."""

from __future__ import annotations

import pytest
import torch

from diffusearch.model.dropout import Dropout, kept


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_share_of_zeros_is_p(p: float) -> None:
    torch.manual_seed(0)
    count = 200_000
    dropped = count - int(kept(torch.Size([count]), p).sum())
    assert abs(dropped - p * count) < 6 * (p * (1 - p) * count) ** 0.5  # six standard deviations


def test_what_stays_is_scaled_and_the_gradient_has_the_same_factors() -> None:
    layer = Dropout(0.25)
    x = torch.ones(7, 13, dtype=torch.float64, requires_grad=True)  # 91 elements: not a multiple of four
    y = layer(x)
    assert set(y.unique().tolist()) == {0.0, 4 / 3}
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())


def test_a_seed_repeats_it_and_elements_of_a_draw_differ() -> None:
    torch.manual_seed(5)
    first = kept(torch.Size([64, 4]), 0.5)
    torch.manual_seed(5)
    assert torch.equal(first, kept(torch.Size([64, 4]), 0.5))
    assert not torch.equal(first[:, 0], first[:, 1])
    assert not torch.equal(first[:, 0], first[:, 3])


def test_outside_training_and_at_zero_nothing_changes() -> None:
    x = torch.randn(3, 4)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x
