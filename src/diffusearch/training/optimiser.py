"""Optimisers, learning-rate schedules and the moving average of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor, nn

from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import check_fit, shapes
from diffusearch.training.muon import Muon
from diffusearch.training.tables import OptimiserConfig


def make_optimisers(net: Denoiser, config: OptimiserConfig, *, bf16: bool = False) -> list[torch.optim.Optimizer]:
    """One optimiser, or for Muon two: Muon (with `bf16` products) for the trunk's matrices, AdamW for the rest."""
    betas = (0.9, config.beta2)
    everything = [p for p in net.parameters() if p.requires_grad]
    if config.kind == "adam":
        return [torch.optim.Adam(everything, lr=config.rate, betas=betas, fused=True)]
    if config.kind == "adamw":
        matrices = [p for p in everything if p.ndim >= 2]
        rest = [p for p in everything if p.ndim < 2]
        groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": rest, "weight_decay": 0.0}]
        return [torch.optim.AdamW(groups, lr=config.rate, betas=betas, fused=True)]
    matrices = [p for name, p in net.named_parameters() if name.startswith("trunk.") and p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in everything if id(p) not in chosen]
    return [
        Muon(matrices, lr=config.rate, weight_decay=config.weight_decay, bf16=bf16),
        torch.optim.AdamW(rest, lr=config.rate, betas=betas, weight_decay=0.0, fused=True),
    ]


def rate_factor(step: int, total: int, config: OptimiserConfig) -> float:
    """The learning rate of a step (from 0) as a share of the highest rate."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    progress = (step - config.warmup) / max(1, total - config.warmup)
    if config.schedule == "cosine":
        return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))
    if config.schedule == "constant":
        return 1.0
    return min(1.0, max(0.0, (1.0 - progress) / 0.2))  # "decay"


class Average:
    """Exponential moving average of the weights; the decay is smaller in the first steps."""

    def __init__(self, net: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights: dict[str, Tensor] = {name: p.detach().clone() for name, p in net.named_parameters()}

    def restore(self, weights: dict[str, Tensor], path: Path) -> None:
        """Take the averages of a checkpoint; names and shapes must fit exactly."""
        check_fit(shapes(self.weights), shapes(weights), path)
        self.weights = {name: weights[name].to(own.device) for name, own in self.weights.items()}

    @torch.no_grad()
    def update(self, parameters: Iterable[tuple[str, Tensor]], step: int) -> None:
        """Mix in the weights after a step (from 0)."""
        decay = min(self.decay, (1.0 + step) / (10.0 + step))
        for name, parameter in parameters:
            self.weights[name].lerp_(parameter, 1.0 - decay)
