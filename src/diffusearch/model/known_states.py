"""The states of a partly noised record as far as they are known."""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.tokens.layout import Layout


def known_states(tokens: Tensor, layout: Layout) -> tuple[list[Tensor], list[Tensor]]:
    """Two lists with an entry for each state of a record: the state if nothing had moved, and the state as known.

    Tokens [batch, >= given variables] of a noised record; missing variables count as noised. Each state is
    [batch, slots]. A known state has the record's token where it is visible, else that of the first list. Both entries
    of the root are the root itself.
    """
    slots = len(layout.encoding.slots)
    sizes = torch.tensor([slot.size for slot in layout.encoding.slots], device=tokens.device)
    factor, summand = (torch.from_numpy(array).to(tokens.device) for array in layout.encoding.unmoved)
    before, known = [tokens[:, :slots]], [tokens[:, :slots]]
    for segment in layout.segments[1:]:
        if segment.kind == "s":
            before.append((known[-1] * factor + summand).clamp(min=0).minimum(sizes - 1))
            here = tokens[:, segment.start : segment.start + slots]
            known.append(torch.where(here < sizes, here, before[-1]) if here.shape[1] == slots else before[-1])
    return before, known
