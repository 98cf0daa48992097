"""Attack features: pieces on queen lines and knight jumps to each square.

Attacks, pins and checks depend on lines: which piece stands at which distance in which direction, and whether a piece
stands between. A place that carries a whole rank would have to compute this by attention, layer by layer. Instead, each
square of the root sums one learned vector for each square that a queen or a knight could come from, chosen by
    the direction and distance x the piece there x the piece here x no or one piece between (beyond two pieces: none)
and a linear layer maps the sums of a place's squares to the place. The vectors are shared by all squares and start at
zero.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.board_features.lines import CODES, joined_squares
from diffusearch.model.tables import sum_rows
from diffusearch.tokens.layout import Layout


class AttackFeatures(nn.Module):
    """Squares of a state of the compact encoding -> a vector for each of its square places."""

    def __init__(self, layout: Layout, width: int, inner: int) -> None:
        super().__init__()
        source, target, between = joined_squares()
        steps = (target // 8 - source // 8 + 7) * 15 + target % 8 - source % 8 + 7
        _, direction = np.unique(steps, return_inverse=True)  # direction and distance as one number
        self.none = 2 * CODES**2 * (int(direction.max()) + 1)  # the row for "no piece visible"
        self.lines = nn.Parameter(torch.zeros(self.none + 1, inner))
        self.out = nn.Linear(layout.patch * inner, width)
        nn.init.zeros_(self.out.bias)
        # for each target square its pairs, padded to the number that a central square has
        laid = np.argsort(layout.square_order)  # squares in the order of places
        most = int(np.bincount(target).max())
        pairs = np.full((64, most), len(source))
        for row, square in enumerate(laid):
            own = np.flatnonzero(target == square)
            pairs[row, : len(own)] = own
        self.pairs: Tensor
        self.source: Tensor
        self.target: Tensor
        self.direction: Tensor
        self.between: Tensor
        for name, array in (("pairs", pairs), ("source", source), ("target", target), ("direction", direction)):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.register_buffer("between", torch.from_numpy(between), persistent=False)

    def forward(self, squares: Tensor) -> Tensor:
        """Codes [batch, 64] of a1..h8 from the mover's side -> [batch, 64 / patch places, width]."""
        squares = squares.to(self.lines.device)
        count = squares.shape[0]
        blockers = (squares > 0).to(self.between.dtype) @ self.between  # [batch, pairs]
        there, here = squares[:, self.source], squares[:, self.target]
        rows = ((self.direction * CODES + there) * CODES + here) * 2 + (blockers > 0)
        rows = torch.where((blockers < 2) & (there > 0), rows, self.none)
        rows = F.pad(rows, (0, 1), value=self.none)
        bags = rows[:, self.pairs.view(-1)].view(count * 64, -1)
        square = F.gelu(sum_rows(bags, self.lines, self.none), approximate="tanh")
        features: Tensor = self.out(square.view(count, -1, self.out.in_features))
        return features
