"""The plan of a denoising: the times of its network calls, and how many targets are visible after each of them."""

from __future__ import annotations

import math
from itertools import pairwise

from diffusearch.diffusion.decoding import Decoding
from diffusearch.tokens.layout import Layout


def time_grid(steps: int, timesteps: int) -> list[int]:
    """Times T = t_0 > t_1 > ... > t_n = 0 for at most `steps` network calls."""
    steps = min(steps, timesteps)
    return [round(timesteps * (steps - i) / steps) for i in range(steps + 1)]


def schedule(layout: Layout, decoding: Decoding, timesteps: int) -> list[tuple[int, int, int]]:
    """For each network call the times before and after it, and how many targets are visible then (segments: how many
    moves and states).

    In the order "plies" a call fixes a whole move or a whole state, so that no state is predicted before the move that
    leads to it. If there are fewer steps than those, later calls fix several; the first move has a call of its own.
    """
    targets = layout.predicted
    if decoding.order not in ("plies", "segments"):
        grid = time_grid(decoding.steps, timesteps)
        return [(now, after, targets - math.floor(targets * after / timesteps)) for now, after in pairwise(grid)]
    starts = [segment.start - layout.given_variables for segment in layout.segments if not segment.given]
    ends = [*starts[1:], targets] if decoding.order == "plies" else list(range(1, len(starts) + 1))
    calls = min(decoding.steps, len(ends))
    keeps = [ends[math.ceil(call * (len(ends) - 1) / (calls - 1))] for call in range(calls)] if calls > 1 else ends[-1:]
    times = [timesteps, *(round(timesteps * (1 - keep / ends[-1])) for keep in keeps)]
    return [(now, after, keep) for (now, after), keep in zip(pairwise(times), keeps, strict=True)]


def most_visible(layout: Layout, decoding: Decoding, keep: int) -> int:
    """How many targets are visible at most after a call of the schedule."""
    if decoding.order != "segments":
        return keep
    starts = [segment.start for segment in layout.segments if not segment.given]
    return sum(sorted((after - start for start, after in pairwise([*starts, layout.variables])), reverse=True)[:keep])


def reach(layout: Layout, decoding: Decoding, keep: int) -> Layout:
    """The layout that one call computes; after the call `keep` targets are visible.

    With order plies it ends at the current ply; otherwise it is the whole record.
    """
    if decoding.order != "plies" or decoding.move_last or decoding.cache:
        return layout
    return layout.truncated(int(layout.plies[layout.given_variables + keep - 1]) + 1)
