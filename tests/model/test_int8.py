"""8-bit weights: close to the floats, in a copy, and only in the trunk."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from diffusearch.model.denoiser import Denoiser
from diffusearch.model.int8 import Int8Linear, int8


def test_a_layer_is_within_its_rounding() -> None:
    linear, x = nn.Linear(64, 32), torch.randn(2, 5, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        exact, rounded = linear(x), Int8Linear(linear)(x)
    # one step of the input is its range / 127 (7 bits), one of a weight its row's maximum / 127; half of it is lost
    step = float(x.max() - x.min()) / 127
    weight = linear.weight.detach().abs()
    bound = 64 * (step / 2 * weight.amax() + x.abs().amax() * weight.amax() / 254 + step * weight.amax() / 254)
    error = (exact - rounded).abs().max()
    assert 0 < float(error) < float(bound)


@pytest.mark.parametrize("kind", [{}, {"attention": "prefix", "residual_state": True}])
def test_the_copy_is_close_and_the_net_untouched(
    make_net: Callable[..., Denoiser], some_tokens: Callable[..., torch.Tensor], kind: dict[str, object]
) -> None:
    net = make_net(**kind).eval()
    small, tokens = int8(net), some_tokens(net)
    first, *others = small.trunk.blocks
    assert not any(isinstance(module, nn.Linear) for block in others for module in block.modules())
    assert not any(isinstance(module, Int8Linear) for module in first.modules())  # the most sensitive one
    assert not any(isinstance(module, Int8Linear) for module in net.modules())
    with torch.inference_mode():
        exact, rounded = net.hidden(tokens, net.layout), small.hidden(tokens, net.layout)
    share = (exact - rounded).norm() / exact.norm()
    assert 0 < float(share) < 0.1


def test_how_many_blocks_stay_in_floats(
    make_net: Callable[..., Denoiser], some_tokens: Callable[..., torch.Tensor]
) -> None:
    net = make_net(layers=3).eval()
    tokens = some_tokens(net)
    with torch.inference_mode():
        exact = net.hidden(tokens, net.layout)
        rounded = [int8(net, floats).hidden(tokens, net.layout) for floats in (0, 1, 3)]
    errors = [float((exact - hidden).norm()) for hidden in rounded]
    assert errors[0] > errors[1] > errors[2] == 0
