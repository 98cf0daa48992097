"""Dropout that draws a quarter of the random numbers of torch's on a CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

STEPS = 2**16  # a draw of 64 bits serves four elements, 16 bits each


class Dropout(nn.Module):
    """In training every element is zero with probability `p`, in steps of 1/65,536; the others are divided by 1 - p.

    Random numbers are 8 % of a training step of `paper-laptop` with torch's own dropout on a CPU.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        out: Tensor = _Dropped.apply(x, self.p)  # type: ignore[no-untyped-call]
        return out


class _Dropped(torch.autograd.Function):
    """x times its factors, which are all that the backward pass needs."""

    @staticmethod
    def forward(context: Any, x: Tensor, p: float) -> Tensor:
        factors = kept(x.shape, p).to(x.dtype).mul_(1 / (1 - p))
        context.save_for_backward(factors)
        return x * factors

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient * context.saved_tensors[0], None


def kept(shape: torch.Size, p: float) -> Tensor:
    """Which elements stay, drawn from torch's global generator: a boolean tensor of that shape."""
    count = shape.numel()
    draws = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    return (draws.view(torch.int16)[:count] >= round(p * STEPS) - STEPS // 2).view(shape)
