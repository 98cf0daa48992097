"""Extra noise patterns for training: the inputs that ply-by-ply decoding sees, which uniform masking rarely produces.

root_policy    the root and its masked first move, with no future: a policy's input. Under prefix attention the root
               is computed anyway, so that this costs one more place
ply_by_ply     everything is clean except the last state or move of the record
first_state    after a random move only the next state is trained
"""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.diffusion.loss import Losses, cross_entropy
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.tokens.batch import Batch, masked
from diffusearch.tokens.layout import Layout


def root_policy(net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, root: Root) -> Losses:
    """The loss of the first move with no future after it; the root is computed already. Random moves do not count."""
    near = layout.truncated(1)
    count, noised = len(batch.tokens), torch.arange(near.variables) >= near.given_variables
    x = masked(batch.tokens[:, : near.given_variables], near)
    logits = net.logits(net.hidden(x, near, root), near, tokens=x)
    counted = noised & ~batch.random_move[:, None]
    return cross_entropy(logits, batch.truncated(near), near, counted, torch.ones(count), config)


def ply_by_ply(layout: Layout, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """For each of `count` records, one of its last two segments at random.

    Returns two masks [count, variables]: what is noised (everything from that segment on) and what counts in the loss
    (the segment itself).
    """
    starts = torch.tensor([segment.start for segment in layout.segments[-2:]] + [layout.variables])
    which = torch.randint(2, (count, 1), generator=generator)
    index = torch.arange(layout.variables)
    noised = index >= starts[which]
    return noised, noised & (index < starts[which + 1])


def first_state(layout: Layout) -> tuple[Tensor, Tensor]:
    """The same two masks [variables] for a record with a random move: all after that move, and its next state."""
    state = layout.segment("s", 1)
    if state is None:
        raise ValueError("records of this layout predict no state: random moves cannot train it")
    index = torch.arange(layout.variables)
    noised = index >= state.start
    return noised, noised & (index < state.start + len(layout.encoding.slots))
