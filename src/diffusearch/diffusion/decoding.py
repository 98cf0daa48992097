"""The choices of decoding: in which order variables are fixed, in how many steps, and under which rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from diffusearch.diffusion.orders import ORDERS, Order
from diffusearch.errors import UserError
from diffusearch.ranges import Range, check_ranges
from diffusearch.tokens.drafts import DEPTH

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]


# Fields of joint denoising, which reads no drafts.
JOINT = ("order", "carry", "move_last", "temperature", "legal", "imaginations", "stop_confidence", "cache", "ahead")


@dataclass(frozen=True)
class Decoding:
    """How a record is denoised. Defaults are the paper's: easy first by confidence, 20 steps, the whole horizon."""

    order: Order = "confidence"  # which variables are fixed first (orders.py)
    steps: Annotated[int, Range(low=1, high=1000)] = 20  # network calls, at most T; 1 = everything at once
    # What becomes of variables that are visible already. "predict" is the paper's rule: every target is predicted anew
    # in every step, and the least likely are noise again. "keep": what is fixed stays. "gumbel": "predict", ranked with
    # Gumbel noise of scale t / 2T, as the authors' evaluation does. Orders that rank no variables, or only whole moves
    # and states, always keep.
    carry: Literal["predict", "keep", "gumbel"] = "predict"
    move_last: bool = False  # keep the first move noised until the last step (not with order segments)
    temperature: Annotated[float, Range(low=0.0, high=100.0)] = 0.0  # of tokens; 0 = arg-max
    legal: bool = True  # only legal moves at the root; the paper masks nothing
    # records denoised side by side, of which the likeliest is played; they differ by temperature, order or Gumbel noise
    imaginations: Annotated[int, Range(low=1, high=1024)] = 1
    stop_confidence: Annotated[float, Range(low=0.0, high=1.0)] = 0.0  # stop when all variables are so likely; 0 = off
    cache: bool = False  # compute only what is noised or newly fixed: faster, not exact (model/kv_cache.py)
    ahead: Annotated[int, Range(low=0)] = 0  # with cache: noised places computed for each that is fixed; 0 = all
    # Drafts (drafts/): the move is denoised with lines in sight that the network drafted. `steps` is the most calls.
    drafts: Annotated[int, Range(low=0, high=64)] = 0  # first moves that are drafted; 0 = none
    depth: Annotated[int, Range(low=1, high=DEPTH)] = DEPTH  # plies of a draft
    rounds: Annotated[int, Range(low=0, high=64)] = 3  # times that the leading move gets a second reply

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UserError(f"order {self.order!r} is unknown: choose one of {', '.join(ORDERS)}")
        check_ranges(self)
        if self.cache and not self.keeps:
            raise UserError(f"cache reuses what is fixed, and carry = {self.carry!r} changes it: set carry = 'keep'")
        if self.ahead and not self.cache:
            raise UserError(f"ahead = {self.ahead} works with cache: switch that on too, or leave ahead out")
        if self.move_last and self.order == "segments":
            raise UserError(
                "order = 'segments' ranks the first move too, which move_last keeps noised: choose another order, or "
                "leave move_last out"
            )

    def changed(self, horizon: int | None = None, **fields: Any) -> Decoding:
        """The decoding with some fields replaced, for a record of that horizon (None: the run's own).

        Fields of joint denoising, and a horizon, switch drafts off; together with drafts they are refused.
        """
        joint = [name for name in fields if name in JOINT] + ["horizon"] * (horizon is not None)
        if joint and fields.get("drafts"):
            raise UserError(f"drafts and {joint[0]}, which belongs to joint denoising, do not go together: keep one")
        return replace(self, **({"drafts": 0} if joint else {}) | fields)

    @property
    def keeps(self) -> bool:
        """Whether what is fixed stays fixed."""
        return self.carry == "keep" or self.order in ("random", "left-to-right", "plies", "segments")

    @property
    def random(self) -> bool:
        """Whether two records that are denoised from one root may differ, where the noise itself is not random."""
        ranked = self.order in ("confidence", "margin", "entropy")
        return self.temperature > 0 or self.order == "random" or (self.carry == "gumbel" and ranked)

    def refuse_easy_first(self, kind: str) -> None:
        """For processes that do not fix variables easy first: refuse the choices that only make sense there."""
        for name in ("move_last", "stop_confidence", "cache"):
            if getattr(self, name):
                raise UserError(f"{name} has no meaning for {kind} decoding: leave it out")


def log_softmax(logits: Floats) -> Floats:
    """Normalised log-probabilities [..., vocabulary], in the precision of the logits."""
    shifted = logits - logits.max(-1, keepdims=True)
    out: Floats = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return out


def choose(logits: Floats, temperature: float, generator: np.random.Generator) -> Ints:
    """Token ids [...] from logits [..., vocabulary]: the arg-max, or a sample by Gumbel noise in float64."""
    if temperature != 0.0:
        logits = logits.astype(np.float64) / temperature + gumbel(logits.shape, generator)
    tokens: Ints = logits.argmax(-1)
    return tokens


def gumbel(shape: tuple[int, ...], generator: np.random.Generator) -> npt.NDArray[np.float64]:
    """Standard Gumbel noise in float64: in float32 its tail is cut, which lowers the temperature."""
    uniform = generator.random(shape).clip(min=1e-300)
    out: npt.NDArray[np.float64] = -np.log(-np.log(uniform))
    return out


def picked(log_probabilities: Floats, tokens: Ints) -> Floats:
    """The log-probabilities [...] of tokens [...] among [..., vocabulary]."""
    rows = log_probabilities.reshape(-1, log_probabilities.shape[-1])
    found: Floats = rows[np.arange(len(rows)), tokens.reshape(-1)].reshape(tokens.shape)
    return found


def first_move(logits: Floats, allowed: Bools | None, decoding: Decoding) -> tuple[Floats, Floats, Floats]:
    """Logits of actions [batch, n, moves] of which the first is the root's, and its allowed moves [batch, moves].

    Returns the logits after the legality mask, and for the first move its masked log-probabilities and its raw logits.
    """
    raw = logits[:, 0]
    if allowed is not None and decoding.legal:
        logits = logits.copy()
        logits[:, 0][~allowed] = -np.inf
    return logits, log_softmax(logits[:, 0]), raw
