"""The trunk's linear layers in whole numbers of 8 bits: for play on a CPU, and not exact.

Weights are rounded once, each output on a scale of its own; what comes in is rounded in every call, on one scale for
the whole tensor. Attention, norms, embeddings and heads stay in floats, and so does the first block: what it gets wrong
passes through all others, and it alone would make four fifths of the whole error.
"""

from __future__ import annotations

import copy
import warnings

import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser

# What comes in has 8 bits where the processor adds products in 32 bits (VNNI); others add pairs of them in 16 bits, so
# that one bit must be left free.
_REDUCE_RANGE = not torch.cpu.get_capabilities().get("avx512_vnni", False)


class Int8Linear(nn.Module):
    """A linear layer without gradient; torch's quantised engine multiplies."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scales = (weight.abs().amax(1).double() / 127.0).clamp(min=1e-12)  # [outputs]
        zeros = torch.zeros(len(scales), dtype=torch.int64)
        with warnings.catch_warnings():  # torch announces that a release to come will do without quantised tensors
            warnings.filterwarnings("ignore", message=".*quantized tensor creation", category=UserWarning)
            rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(rounded, linear.bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.quantized.linear_dynamic(x, self.packed, _REDUCE_RANGE)
        return y


def int8(net: Denoiser, floats: int = 1) -> Denoiser:
    """A copy of a network whose trunk multiplies in 8 bits, all but its first `floats` blocks."""
    if net.embedding.table.device.type != "cpu":
        raise UserError(f"8-bit weights are for the CPU, and this network is on {net.embedding.table.device}")
    net = copy.deepcopy(net).eval()
    for module in list(net.trunk.blocks[floats:].modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, Int8Linear(child))
    return net
