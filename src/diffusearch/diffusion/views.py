"""Views of a record that decoding ply by ply meets, and that evenly spread noise hardly ever shows.

At a glance there is the root and its noised move, and nothing behind: what a policy sees. Under prefix attention the
root is computed anyhow, so this costs one place. Growing, everything is clean but the newest state or move. Behind a
move that was only tried, the state is all there is to learn.
"""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.diffusion.loss import LossConfig, Losses, cross_entropy
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.tokens.batch import Batch, masked
from diffusearch.tokens.layout import Layout


def glance(net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, root: Root) -> Losses:
    """The loss of the first move alone, behind a root that is computed already."""
    near = layout.truncated(1)
    count, noised = len(batch.tokens), torch.arange(near.variables) >= near.given_variables
    x = masked(batch.tokens[:, : near.given_variables], near)
    logits = net.logits(net.hidden(x, near, root), near, tokens=x)
    counted = noised & ~batch.random_move[:, None]
    return cross_entropy(logits, batch.truncated(near), near, counted, torch.ones(count), config)


def newest(layout: Layout, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """For each of `count` records one of its last two segments: [count, variables] what is noised, from that segment
    on, and the segment itself."""
    starts = torch.tensor([segment.start for segment in layout.segments[-2:]] + [layout.variables])
    which = torch.randint(2, (count, 1), generator=generator)
    index = torch.arange(layout.variables)
    later = index >= starts[which]
    return later, later & (index < starts[which + 1])


def first_state(layout: Layout) -> tuple[Tensor, Tensor]:
    """[variables] each: what lies behind the first move, and of that the first imagined state."""
    state = layout.segment("s", 1)
    if state is None:
        raise ValueError("records of this layout imagine no state: nothing is learnt from moves that are tried")
    index = torch.arange(layout.variables)
    behind = index >= state.start
    return behind, behind & (index < state.start + len(layout.encoding.slots))
