"""Lines and jumps from every square of the board, as tables of squares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

OUTSIDE = 64  # a square off the board, always empty
LINES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))  # rank, file; sideways first
JUMPS = ((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2))
CASTLES = ((0, 2), (0, -2))  # the king's steps in castling, along the first two lines

Squares = npt.NDArray[np.int64]


def steps_of(steps: tuple[tuple[int, int], ...]) -> Squares:
    """The square [65, steps] one step away from each square."""
    ranks, files = np.divmod(np.arange(64), 8)
    out = np.full((65, len(steps)), OUTSIDE)
    for index, (rank, file) in enumerate(steps):
        inside = (ranks + rank >= 0) & (ranks + rank < 8) & (files + file >= 0) & (files + file < 8)
        out[:64, index] = np.where(inside, (ranks + rank) * 8 + files + file, OUTSIDE)
    return out


def rays_of() -> Squares:
    """The squares [65, lines, 7] of each line from each square, nearest first."""
    step = steps_of(LINES)
    rays = np.empty((65, len(LINES), 7), dtype=np.int64)
    rays[..., 0] = step
    for far in range(1, 7):
        rays[..., far] = step[rays[..., far - 1], np.arange(len(LINES))]
    return rays


def line_of() -> Squares:
    """[65, 65] the line from one square that contains the other, -1: none."""
    rays, line = rays_of(), np.full((65, 65), -1)
    for index in range(len(LINES)):
        line[np.arange(65)[:, None], rays[:, index]] = index
    line[:, OUTSIDE] = -1
    return line
