"""What stands where, read straight into the scores of moves.

A move needs its piece on the square it leaves, nothing on the squares between, and none of its own side on the square
it reaches: a sum of one number for each square says almost all of that. So a table gives every move a number for what
stands on each of the 64 squares (and for the rights), another one for the two pieces that it moves and meets, and a
third for what it moves when something stands between. All start at 0 and are learnt like everything else: they know no
rule. The trunk need not spend itself on how pieces move, and is left with what a sum cannot say: pins, checks, and
which move is good.

A state in which the opponent of the root's mover is to move is turned first, so that one table serves both sides.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.embedding import summed
from diffusearch.model.exposure import Exposure
from diffusearch.model.loud import LOUD
from diffusearch.model.sight import CODES, between
from diffusearch.tokens import moves
from diffusearch.tokens.encodings import SWAP, TURN_RIGHTS
from diffusearch.tokens.states import CASTLING, EN_PASSANT

_SIZES = (*(CODES,) * 64, 16, 9)  # the squares, the castling rights, the file of a pawn that can be taken en passant
_SLOTS = [*range(64), CASTLING, EN_PASSANT]


class Standing(nn.Module):
    """Scores of moves from states of the compact encoding alone."""

    def __init__(self, *, exposure: bool = False) -> None:
        super().__init__()
        self.exposure = Exposure() if exposure else None
        self.squares = nn.Parameter(torch.zeros(sum(_SIZES), len(moves.SOURCE)))
        self.pairs = nn.Parameter(torch.zeros(len(moves.SOURCE) * CODES**2, 1))
        self.blocked = nn.Parameter(torch.zeros(CODES, 1))
        source, target, inside = between()
        of_pair = dict(zip(zip(source.tolist(), target.tolist(), strict=True), inside.T, strict=True))
        ways = zip(moves.SOURCE.tolist(), moves.TARGET.tolist(), strict=True)
        self.inside: Tensor
        self.register_buffer("inside", torch.from_numpy(np.stack([of_pair[way] for way in ways], 1)), persistent=False)
        self.first: Tensor
        self.base: Tensor
        self.turned: Tensor
        self.other: Tensor
        self.rights: Tensor
        self.register_buffer("first", torch.from_numpy(np.cumsum((0, *_SIZES[:-1]))), persistent=False)
        self.register_buffer("base", torch.arange(len(moves.SOURCE)) * CODES**2, persistent=False)
        self.register_buffer("turned", torch.from_numpy(moves.TURN[: len(moves.SOURCE)]), persistent=False)
        self.register_buffer("other", torch.from_numpy(SWAP.astype(np.int64)), persistent=False)
        self.register_buffer("rights", torch.from_numpy(TURN_RIGHTS), persistent=False)

    def forward(self, state: Tensor, *, opponent: bool) -> Tensor:
        """States [batch, slots] in the root's frame, and whether its opponent is to move -> scores [batch, 1968]."""
        seen = state[:, _SLOTS]
        if opponent:
            squares = self.other[seen[:, :64]].view(-1, 8, 8).flip(1).flatten(1)
            seen = torch.cat([squares, self.rights[seen[:, 64:65]], seen[:, 65:]], dim=1)
        scores = summed(seen + self.first, self.squares)
        both = seen[:, moves.SOURCE] * CODES + seen[:, moves.TARGET]
        scores = scores + F.embedding(both + self.base, self.pairs)[..., 0]
        hidden = (seen[:, :64] > 0).to(self.inside.dtype) @ self.inside > 0  # something stands between
        scores = scores + LOUD * hidden * F.embedding(seen[:, moves.SOURCE], self.blocked)[..., 0]
        if self.exposure is not None:
            scores = scores + self.exposure(seen[:, :64])
        return scores[:, self.turned] if opponent else scores
