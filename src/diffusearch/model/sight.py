"""What looks at a square: the root's squares start with what stands on the lines that meet there.

Attacks, pins and checks are lines: what stands at which distance in which direction, and whether something is between.
A place of a whole rank would have to work that out by attention, layer by layer. So each square gathers, over all
squares that a queen or a knight could come from, one vector for
    the way x what stands there x what stands here x nothing or one piece between (behind two nothing is seen)
and a small layer tells the square's place what came together. The vectors are learnt, the same for all squares, and
start without any effect: the lines are the board's, how pieces use them is not told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.embedding import summed
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout

CODES = 13  # of a square; 0 is empty


def between() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """All pairs of squares that a move can join [n] each (leaves, reaches), and the squares between [64, n] of 0 and 1.

    A knight's squares have none between them.
    """
    pairs = np.unique(np.stack([moves.SOURCE, moves.TARGET], 1), axis=0)
    source, target = pairs[:, 0], pairs[:, 1]
    ranks, files = target // 8 - source // 8, target % 8 - source % 8
    steps = np.gcd(ranks, files)
    inside = np.zeros((64, len(pairs)), dtype=np.float32)
    for step in range(1, 7):
        here = source + step * (ranks // steps * 8 + files // steps)
        inside[here[step < steps], np.flatnonzero(step < steps)] = 1.0
    return source, target, inside


class Sight(nn.Module):
    """Squares of a state of the compact encoding -> what its square places hear."""

    def __init__(self, layout: Layout, width: int, inner: int) -> None:
        super().__init__()
        self.inner = inner
        source, target, inside = between()
        ways = (target // 8 - source // 8 + 7) * 15 + target % 8 - source % 8 + 7
        _, way = np.unique(ways, return_inverse=True)
        self.nothing = 2 * CODES**2 * (int(way.max()) + 1)  # the row of what is not seen
        self.lines = nn.Parameter(torch.zeros(self.nothing + 1, inner))
        self.tell = nn.Linear(layout.patch * inner, width)
        nn.init.zeros_(self.tell.bias)
        # the pairs sorted by the square that is looked at, as many for each as the middle of the board has
        laid = np.argsort(layout.square_order)  # squares in the order of places
        most = int(np.bincount(target).max())
        table = np.full((64, most), len(source))
        for row, square in enumerate(laid):
            own = np.flatnonzero(target == square)
            table[row, : len(own)] = own
        self.table: Tensor
        self.source: Tensor
        self.target: Tensor
        self.way: Tensor
        self.inside: Tensor
        for name, array in (("table", table), ("source", source), ("target", target), ("way", way)):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.register_buffer("inside", torch.from_numpy(inside), persistent=False)

    def forward(self, squares: Tensor) -> Tensor:
        """Codes [batch, 64] of a1..h8, seen by the mover -> [batch, 64 / patch places, width]."""
        squares = squares.to(self.lines.device)
        count = squares.shape[0]
        hidden = (squares > 0).to(self.inside.dtype) @ self.inside  # [batch, pairs]: pieces between
        there, here = squares[:, self.source], squares[:, self.target]
        rows = ((self.way * CODES + there) * CODES + here) * 2 + (hidden > 0)
        rows = torch.where((hidden < 2) & (there > 0), rows, self.nothing)
        rows = F.pad(rows, (0, 1), value=self.nothing)
        bags = rows[:, self.table.view(-1)].view(count * 64, -1)
        square = F.gelu(summed(bags, self.lines, self.nothing), approximate="tanh")
        told: Tensor = self.tell(square.view(count, -1, self.tell.in_features))
        return told
