"""Values: Stockfish's score -> win probability of the side to move -> one of 128 bins, and back.

The logistic curve is lichess's, which the paper's reference (Ruoss et al. 2024) uses: 100 centipawns are 59 %.
A forced mate counts as a certain win or loss, whatever its length.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

BINS = 128
UNKNOWN = 255  # where a bin is stored as one byte: the value is not known
_SLOPE = 0.00368208  # per centipawn


def win_probability(cp: int | None, mate: int | None) -> float:
    """Win probability of the side to move, in [0, 1]; exactly one of the two scores is given.

    `mate` counts moves: positive = the side to move mates, negative = it is mated, 0 = it is mated already.
    """
    if mate is not None:
        return 1.0 if mate > 0 else 0.0
    if cp is None:
        raise ValueError("a score needs centipawns or a mate distance")
    return 1.0 / (1.0 + math.exp(-_SLOPE * cp))


def centipawns(probability: float) -> int:
    """The score in centipawns whose win probability this is; certain results are held at +-9999."""
    clipped = min(max(probability, 1e-12), 1.0 - 1e-12)
    return max(-9999, min(9999, round(math.log(clipped / (1.0 - clipped)) / _SLOPE)))


def value_bin(probability: float) -> int:
    """The bin (0..127) of a win probability; bins are equally wide and 1.0 belongs to the last."""
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"a win probability lies in [0, 1], not {probability}")
    return min(int(probability * BINS), BINS - 1)


def bin_value(index: int) -> float:
    """The middle of a bin as a win probability; value_bin(bin_value(b)) == b."""
    if not 0 <= index < BINS:
        raise ValueError(f"a value bin lies in 0..{BINS - 1}, not {index}")
    return (index + 0.5) / BINS


BIN_VALUES: npt.NDArray[np.float32] = ((np.arange(BINS) + 0.5) / BINS).astype(np.float32)
