"""The orders in which variables are fixed: their names alone, so that options can be listed without torch."""

from __future__ import annotations

from typing import Literal, get_args

# Easy first by log-likelihood (the paper), by margin or by entropy; at random; variable by variable; or each move
# before the state that it leads to, ply by ply; or whole moves and whole states, easy first by joint log-likelihood.
Order = Literal["confidence", "margin", "entropy", "random", "left-to-right", "plies", "segments"]
ORDERS: tuple[str, ...] = get_args(Order)
