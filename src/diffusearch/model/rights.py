"""What becomes of a right to castle when a move leaves or reaches a square.

Rights are lost with the square that a king or a rook leaves, or on which a rook is taken: seldom, so that a trunk has
long forgotten the last time. A table of the square, the right that was there and the right that is there now can keep
it. It starts at 0 and is learnt like everything else: it knows no rule.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.loud import LOUD

_SQUARES = 65  # and no square at all: the move is noised, or the game is over


class Rights(nn.Module):
    """Logits of the rights of imagined states, from what a move says of itself."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.table = nn.Parameter(torch.zeros(2 * _SQUARES * size, size))

    def forward(self, before: Tensor, left: Tensor, reached: Tensor) -> Tensor:
        """Rights before the move, and the slots of its squares, [batch, n] each -> logits [batch, n, size]."""
        here = left.clamp(max=_SQUARES - 1) * self.size + before
        there = (_SQUARES + reached.clamp(max=_SQUARES - 1)) * self.size + before
        return LOUD * (F.embedding(here, self.table) + F.embedding(there, self.table))
