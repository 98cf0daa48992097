"""Muon: momentum whose matrix updates are made orthogonal before they are applied (Jordan et al. 2024).

torch ships a Muon that always computes in bf16, which a CPU without bf16 products emulates slowly. This one computes in
bf16 only if it is asked to, and matrices of one shape together.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # a quintic that drives singular values towards 1 in few iterations
_ITERATIONS = 5


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest (semi-)orthogonal matrices, roughly: [n, rows, columns] -> the same shape, singular values near 1."""
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    out: Tensor = x.transpose(1, 2) if tall else x
    return out


class Muon(torch.optim.Optimizer):
    """For hidden matrices only; the step has the RMS that AdamW's steps have, so the same learning rate serves both."""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        *,
        bf16: bool = False,
    ) -> None:
        """`bf16`: the updates are made orthogonal in bf16; momentum and weights keep their precision."""
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.bf16 = bf16

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of all matrices."""
        for group in self.param_groups:
            same_shape: dict[torch.Size, list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    same_shape.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in same_shape.items():
                updates = torch.stack([self._momentum(p, group["momentum"]) for p in parameters])
                scale = 0.2 * max(shape) ** 0.5
                if self.bf16:
                    updates = updates.bfloat16()
                for parameter, update in zip(parameters, orthogonal(updates), strict=True):
                    parameter.mul_(1.0 - group["lr"] * group["weight_decay"])
                    parameter.add_(update.to(parameter.dtype), alpha=-group["lr"] * scale)

    def _momentum(self, parameter: Tensor, momentum: float) -> Tensor:
        """Nesterov momentum."""
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        assert parameter.grad is not None
        state["momentum"].lerp_(parameter.grad, 1.0 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)
