"""8-bit integer weights in the trunk's linear layers: faster play on a CPU, not exact.

Weights are rounded once, with one scale for each output; inputs are rounded in every call, with one scale for the whole
tensor. Attention, norms, embeddings and heads stay in floats. So does the first block: its errors pass through all
later blocks, and it alone would cause four fifths of the total error.
"""

from __future__ import annotations

import copy
import warnings

import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser

# Inputs use 8 bits where the processor adds products in 32 bits (VNNI). Others add pairs of products in 16 bits, which
# needs one free bit.
_REDUCE_RANGE = not torch.cpu.get_capabilities().get("avx512_vnni", False)


class Int8Linear(nn.Module):
    """A linear layer without gradient, computed by torch's quantised engine."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scales = (weight.abs().amax(1).double() / 127.0).clamp(min=1e-12)  # [outputs]
        zeros = torch.zeros(len(scales), dtype=torch.int64)
        with warnings.catch_warnings():  # torch announces that a later release drops quantised tensors
            warnings.filterwarnings("ignore", message=".*quantized tensor creation", category=UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(rounded, linear.bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.quantized.linear_dynamic(x, self.packed, _REDUCE_RANGE)
        return y


def int8(net: Denoiser, floats: int = 1) -> Denoiser:
    """A copy of a network with an 8-bit trunk, except its first `floats` blocks."""
    if net.embedding.table.device.type != "cpu":
        raise UserError(f"8-bit weights run on the CPU, and this network is on {net.embedding.table.device}")
    net = copy.deepcopy(net).eval()
    for module in list(net.trunk.blocks[floats:].modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, Int8Linear(child))
    return net
