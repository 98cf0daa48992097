"""The weights of the training loss: a recipe's [loss]. They need no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from diffusearch.ranges import Range, Share, Weight


@dataclass(frozen=True)
class LossConfig:
    """Weights of the loss terms. Defaults are the paper's: all noised variables have weight 1."""

    time_weight: Literal["constant", "reciprocal", "linear"] = "linear"  # lambda_t (paper: linear)
    action: Weight = 1.0  # of a move
    state: Weight = 1.0  # of a variable of a state
    changed: Weight = 1.0  # further factor of state variables that are not as if nothing had moved
    value: Weight = 1.0  # of a value variable, and of the auxiliary value of the root
    legal_root: bool = False  # the first move's softmax is over the root's legal moves only
    raw_move: Weight = 0.1  # with legal_root: of the first move's cross-entropy over all moves, which trains legality
    soft: Share = 0.0  # share of the first move's target that is spread over the scored moves (`label --multipv`)
    soft_temperature: Annotated[float, Range(above=0, high=1e3)] = 0.03  # shares exp((win - best win) / temperature)
    legality: Weight = 0.0  # of -log of the probability of legal moves in the first move's softmax over all moves
    full_noise: Share = 0.0  # share of records trained at t = T
    root_policy: Weight = 0.0  # of the first move with no future after it (prefix attention; diffusion/patterns.py)
    ply_by_ply: Share = 0.0  # share of records with only the last state or move noised, as in the order "plies"
