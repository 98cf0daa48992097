"""The choices of decoding: in which order variables are fixed, in how many steps, and under which rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError


@dataclass(frozen=True)
class Decoding:
    """How an imagination is decoded."""

    steps: int = 20  # network calls, 1..T; 1 = everything at once
    order: str = "confidence"  # easy first by log-likelihood (paper); the others: orders.py
    remask: bool = False  # whether variables fixed earlier may be noised again when they become doubtful
    move_last: bool = False  # keep the first move open until the last step
    temperature: float = 0.0  # 0 = arg-max
    legal: bool = True  # only legal moves at the root
    imaginations: int = 1  # futures denoised side by side, ranked by joint probability
    stop_confidence: float | None = None  # stop when every open variable is at least this likely
    film: bool = False  # keep every step
    line: bool = True  # whether the future behind the move is wanted; else it is left out where the move is the same
    cache: bool = False  # compute only what is noised or newly fixed: faster, not exact (model/kv_cache.py)
    ahead: int | None = None  # with cache: how many noised places are computed for each that is fixed; None = all

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UserError(f"order {self.order!r} is unknown: choose one of {', '.join(ORDERS)}")
        if self.steps < 1:
            raise UserError(f"steps is at least 1, not {self.steps}")
        if self.imaginations < 1:
            raise UserError(f"imaginations is at least 1, not {self.imaginations}")
        if not 0.0 <= self.temperature <= 100.0:
            raise UserError(f"temperature lies in 0..100, not {self.temperature}")
        if self.stop_confidence is not None and not 0.0 < self.stop_confidence <= 1.0:
            raise UserError(f"stop_confidence is a probability above 0, not {self.stop_confidence}")
        if self.ahead is not None and self.ahead < 1:
            raise UserError(f"ahead is at least 1, not {self.ahead}")
        if self.cache and self.remask:
            raise UserError("cache keeps what is fixed and remask takes it back: choose one of them")
        if self.ahead is not None and not self.cache:
            raise UserError(f"ahead={self.ahead} works with cache: switch that on too, or leave ahead out")
        if self.order == "turns":  # a move, then its state: nothing is left to choose within a turn
            self.refuse_easy_first("turn-by-turn", "leave it out, or choose the order 'confidence'")

    def refuse_easy_first(self, kind: str, advice: str = "leave it out") -> None:
        """For decoding that does not fix variables easy-first: refuse the choices that only make sense there."""
        for name in ("remask", "move_last", "stop_confidence", "cache"):
            if getattr(self, name):
                raise UserError(f"{name} has no meaning for {kind} decoding: {advice}")


def choose(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Token ids [...] from logits [..., vocabulary]: the arg-max, or a draw by Gumbel noise in float64."""
    if temperature == 0.0:
        return logits.argmax(-1)
    uniform = torch.rand(logits.shape, generator=generator, dtype=torch.float64).clamp(min=1e-300)
    return (logits.double() / temperature - torch.log(-torch.log(uniform))).argmax(-1)


def first_move(logits: Tensor, allowed: Tensor | None, decoding: Decoding) -> tuple[Tensor, Tensor, Tensor]:
    """Logits of actions [batch, n, moves] of which the first is the root's, and its allowed moves [batch, moves].

    Gives the logits under the legality mask, and of the first move its log-probabilities so and its raw logits.
    """
    raw = logits[:, 0]
    if allowed is not None and decoding.legal:
        logits = torch.cat([raw.masked_fill(~allowed, -math.inf)[:, None], logits[:, 1:]], dim=1)
    return logits, torch.log_softmax(logits[:, 0], -1), raw


def ease(logits: Tensor, log_likelihood: Tensor, order: str) -> Tensor:
    """How easy each variable is (higher = fixed earlier): [...] from normalised log-probabilities [..., vocabulary]."""
    if order == "margin":
        top = logits.topk(2, dim=-1).values.exp()
        return top[..., 0] - top[..., 1]
    if order == "entropy":
        return (logits.exp() * torch.where(logits > -1e30, logits, 0.0)).sum(-1)
    return log_likelihood
