"""Arrays of records -> token ids in one layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.values import UNKNOWN

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def record_tokens(arrays: dict[str, npt.NDArray[Any]], layout: Layout) -> tuple[Ints, Bools]:
    """The tokens [n, variables] of records in a layout, whose horizon may be shorter, and which of them are known."""
    black, encoding = arrays["black"], layout.encoding
    count = len(black)
    action = arrays["moves"].astype(np.int64)
    if not encoding.turned:
        action = np.where(black[:, None], moves.TURN[action], action)
    played = np.cumsum(arrays["moves"] != moves.NONE, axis=1)  # [n, h] plies played after a_i
    tokens = np.zeros((count, layout.variables), dtype=np.int64)
    known = np.zeros((count, layout.variables), dtype=bool)
    for segment in layout.segments:
        ply, start = segment.ply, segment.start
        if segment.kind == "s":
            plies = played[:, ply - 1] if ply else np.zeros(count, dtype=np.int64)
            numbers = arrays["number"].astype(np.int64) + (plies + black) // 2
            end = start + len(encoding.slots)
            tokens[:, start:end] = encoding.encode(arrays["states"][:, ply], black, numbers)
            known[:, start:end] = (arrays["known"] >= ply)[:, None]
        elif segment.kind == "a":
            tokens[:, start] = action[:, ply]
            known[:, start] = arrays["known"] > ply
        else:
            value = arrays["values"][:, ply].astype(np.int64)
            tokens[:, start] = np.where(value == UNKNOWN, 0, value)
            known[:, start] = value != UNKNOWN
    return tokens, known


def masked_record(given: Ints, layout: Layout) -> Ints:
    """Given variables [n, given variables], all others masked: [n, variables]."""
    masks = layout.sizes[layout.given_variables :]
    return np.concatenate([given, np.broadcast_to(masks, (len(given), len(masks)))], axis=1)
