"""The settings of the network: a recipe's [model] and [model.trunk], and its fixed sizes. They need no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from diffusearch.errors import UserError
from diffusearch.ranges import Range
from diffusearch.tokens import layout as layouts
from diffusearch.tokens.layout import Layout

HeadKind = Literal["vocabulary", "typed", "squares"]

# Adam moves every number by about the same step. A table with few numbers and large effects (a logit of -12 for a move
# into check) needs larger steps: its numbers are multiplied by this factor where they are used.
LEARNING_RATE_MULTIPLIER = 30.0

# The draft reader (heads/drafts.py).
QUERIES, POOLED = 4, 24  # attention queries that pool a position's places, and the width of what each collects
NUMBERS = 7  # of a drafted position
ABSENT = 1e4  # log odds of a line that was not drafted: the minimum does not see it


@dataclass(frozen=True)
class TrunkConfig:
    """The shape of the trunk; defaults are the paper's (8 layers, GPT-2 style, 7M parameters)."""

    layers: Annotated[int, Range(low=1, high=128)] = 8
    width: Annotated[int, Range(low=1, high=16384)] = 256
    heads: Annotated[int, Range(low=1, high=256)] = 8
    dropout: Annotated[float, Range(low=0, below=1)] = (
        0.1  # of block outputs; none in attention: it forbids fused kernels
    )
    attention: Literal["full", "prefix", "causal"] = "full"
    positions: Literal["learned", "rope"] = "learned"  # a vector for each place (paper), or rotary


@dataclass(frozen=True)
class ModelConfig:
    """The network. Defaults are the paper's."""

    # what a record holds (paper, section 3.1)
    paradigm: Literal["s-a", "s-v", "sa-v", "s-aa", "s-asa", "s-ass", "s-avav", "s-avsav"] = "s-asa"
    horizon: Annotated[int, Range(low=1, high=256)] = 4  # h: actions in a record (paper: 4)
    encoding: Literal["paper", "compact"] = "paper"  # 77 characters, or the board from the side of the root's mover
    patch: Literal[1, 2, 4, 8] = 1  # squares in a place: 1 (paper), 2, 4 (2x2) or 8 (a rank)
    head: HeadKind = "vocabulary"  # "vocabulary" (paper), "typed" or "squares" (source x target): model/heads
    head_width: Annotated[int, Range(low=1, high=4096)] = 64  # of the source and target vectors of head = "squares"
    board_features: bool = False  # attack features, policy skip, king exposure (model/board_features; compact encoding)
    feature_width: Annotated[int, Range(low=1, high=4096)] = 32  # of the attack features of a square
    root_value: bool = False  # an auxiliary head for the value of the root
    residual_state: bool = False  # predicted states start from the state before (residual_state.py; prefix attention)
    copy_gates: Literal["always", "after-move"] = "always"  # when they open: also while the move is noised, or not
    self_conditioning: bool = False  # the future's places also read the last estimate of the record (absorbing process)
    draft_reader: bool = False  # revises the move by drafted positions (heads/drafts.py; root_value, prefix attention)
    trunk: TrunkConfig = field(default_factory=TrunkConfig)

    @property
    def layout(self) -> Layout:
        """The layout of a whole record."""
        return layouts.layout(self.paradigm, self.horizon, self.encoding, self.patch)

    def check(self) -> None:
        """Refuse values that do not go together."""
        if self.head == "vocabulary" and self.patch != 1:
            raise UserError(f"head = 'vocabulary' needs patch = 1, not {self.patch}: use 'typed' or 'squares'")
        if self.board_features and self.encoding != "compact":
            raise UserError(f"board_features = true needs encoding = 'compact', not {self.encoding!r}")
        if self.residual_state and self.trunk.attention != "prefix":
            raise UserError(f"residual_state = true needs attention = 'prefix', not {self.trunk.attention!r}")
        if self.draft_reader and not (self.root_value and self.trunk.attention == "prefix"):
            raise UserError(
                "draft_reader = true needs root_value = true and attention = 'prefix', "
                f"not {str(self.root_value).lower()} and {self.trunk.attention!r}"
            )
        if self.draft_reader and None in (self.layout.segment("a", 0), self.layout.segment("s", 1)):
            raise UserError(
                "draft_reader = true needs a state after the first move, which paradigm = "
                f"{self.paradigm!r} with horizon = {self.horizon} has not: use 's-asa' and horizon 2 or more"
            )
        if self.trunk.width % (2 * self.trunk.heads):
            raise UserError(
                f"width {self.trunk.width} cannot be split evenly over {self.trunk.heads} heads: "
                f"use a multiple of {2 * self.trunk.heads}"
            )

    def check_cache(self) -> None:
        """Refuse to decode with the KV cache (kv_cache.py) where it does not work."""
        if self.trunk.attention == "causal":
            raise UserError("cache = true needs attention 'full' or 'prefix': causal attention has a cache of its own")
        if self.self_conditioning:
            raise UserError("cache = true does not read the estimate of self_conditioning = true: leave cache out")
