"""The orders in which variables are fixed: their names alone, so that options can be listed without torch."""

from __future__ import annotations

# Easy first by log-likelihood (the paper), by margin or by entropy; at random; variable by variable; each move
# before the state that it leads to; or so that each state is the root of the next ply.
ORDERS = ("confidence", "margin", "entropy", "random", "left-to-right", "plies", "turns")
