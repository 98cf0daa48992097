"""Lookup tables of single numbers: values and gradients are those of an embedding."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from diffusearch.model.tables import numbers


def test_numbers_and_their_gradients_are_those_of_an_embedding() -> None:
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(11, 1, generator=generator, dtype=torch.float64).requires_grad_()
    rows = torch.randint(0, 11, (3, 4, 5), generator=generator)  # rows come several times, some never
    weights = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    found, expected = numbers(rows, table), F.embedding(rows, table)[..., 0]
    assert torch.equal(found, expected)
    (gradient,) = torch.autograd.grad((found * weights).sum(), table)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), table)
    torch.testing.assert_close(gradient, wanted)
