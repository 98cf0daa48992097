"""Which targets are fixed first: how easy each is, and which of them, or which whole moves and states, are easiest."""

from __future__ import annotations

import numpy as np

from diffusearch.diffusion.decoding import Bools, Floats
from diffusearch.tokens.layout import Layout


def ease(log_probabilities: Floats, log_likelihood: Floats, order: str) -> Floats:
    """How easy each variable is (higher = fixed earlier): [...] from normalised log-probabilities [..., vocabulary]."""
    if order == "margin":
        top = np.exp(np.partition(log_probabilities, -2, axis=-1)[..., -2:])
        margin: Floats = top[..., 1] - top[..., 0]
        return margin
    if order == "entropy":
        finite = np.where(log_probabilities > -1e30, log_probabilities, 0.0)
        negative: Floats = (np.exp(log_probabilities) * finite).sum(-1)
        return negative
    return log_likelihood


def highest(scores: Floats, count: int) -> Bools:
    """Which `count` of each row's scores [batch, n] are the highest; of equal ones the first."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    chosen = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen


def easiest_segments(log_likelihood: Floats, visible: Bools, layout: Layout, count: int) -> Bools:
    """The targets [batch, targets] of `count` moves and states: those that are visible, then the likeliest as a whole.

    The unit is the whole move or state. Single squares of a state are nearly certain to stay as they are while the move
    is noised, and would be fixed so before the move that changes them. For the same reason a state never ranks above
    the move and the state that lead to it: its squares are predicted one by one, and the product of their likelihoods
    is too high where they depend on a move that is not known.
    """
    fixed = layout.given_variables
    segments = [segment for segment in layout.segments if not segment.given]
    starts = np.array([segment.start - fixed for segment in segments])
    joint = np.add.reduceat(np.where(visible, 0.0, log_likelihood), starts, axis=1)
    joint = np.where(visible[:, starts], np.inf, joint)
    leading: dict[str, Floats] = {}  # the ranks of the last segment of each kind
    for column, segment in enumerate(segments):
        if segment.kind == "s":
            joint[:, column] = np.minimum.reduce([joint[:, column], *leading.values()])
        leading[segment.kind] = joint[:, column]
    sizes = np.diff([*starts, visible.shape[1]])
    chosen: Bools = np.repeat(highest(joint, count), sizes, axis=1)
    return chosen
