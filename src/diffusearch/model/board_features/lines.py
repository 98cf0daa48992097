"""Lines on the board: the pairs of squares that a queen or a knight can join, and the squares between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.tokens import moves

CODES = 13  # values of a square: 0 is empty


def joined_squares() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """All pairs of squares that a move can join: sources [n], targets [n], and the squares between [64, n] as 0 or 1.

    The squares of a knight's move have none between them.
    """
    pairs = np.unique(np.stack([moves.SOURCE, moves.TARGET], 1), axis=0)
    source, target = pairs[:, 0], pairs[:, 1]
    ranks, files = target // 8 - source // 8, target % 8 - source % 8
    steps = np.gcd(ranks, files)
    between = np.zeros((64, len(pairs)), dtype=np.float32)
    for step in range(1, 7):
        here = source + step * (ranks // steps * 8 + files // steps)
        between[here[step < steps], np.flatnonzero(step < steps)] = 1.0
    return source, target, between


def between_moves() -> npt.NDArray[np.float32]:
    """The squares [64, 1968] between source and target of each move as 0 or 1."""
    source, target, between = joined_squares()
    column = {pair: index for index, pair in enumerate(zip(source.tolist(), target.tolist(), strict=True))}
    return between[:, [column[pair] for pair in zip(moves.SOURCE.tolist(), moves.TARGET.tolist(), strict=True)]]
