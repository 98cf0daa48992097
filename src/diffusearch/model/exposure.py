"""What would look at the king after a move.

Nearly every move that looks lawful and is not leaves the mover's own king in check: its piece was pinned, or something
else was asked for. What a king sees is the first piece on each of its eight lines and what stands a knight's leap away,
and a move changes that in few ways: a piece steps into a line, or leaves it and opens it, or the king itself stands
elsewhere. So each move is scored by the sum of one number for each thing that its king would see: on which line, next
to it or farther, which piece. The numbers start at 0 and are learnt like everything else: what stands where after a
move is geometry, which piece is dangerous on which line is not told. (En passant takes a second piece off the board,
which is not seen here.)
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.loud import LOUD
from diffusearch.model.sight import CODES
from diffusearch.tokens import moves
from diffusearch.tokens.states import OWN_KING

_OUTSIDE = 64  # a square that is none: nothing stands there
_WAYS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))  # rank, file: first to either side
_LEAPS = ((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2))
_CASTLES = ((0, 2), (0, -2))  # where castling takes a king, behind the first two ways


def _steps(ways: tuple[tuple[int, int], ...]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """From each square [65, ways] one step on; outside the board is no square."""
    ranks, files = np.divmod(np.arange(64), 8)
    out = np.full((65, len(ways)), _OUTSIDE)
    for way, (rank, file) in enumerate(ways):
        inside = (ranks + rank >= 0) & (ranks + rank < 8) & (files + file >= 0) & (files + file < 8)
        out[:64, way] = np.where(inside, (ranks + rank) * 8 + files + file, _OUTSIDE)
    return out


class Exposure(nn.Module):
    """Scores of moves from the squares of the compact encoding, seen by the mover."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = nn.Parameter(torch.zeros(len(_WAYS) * 2 * CODES, 1))
        self.leaps = nn.Parameter(torch.zeros(CODES, 1))
        step = _steps(_WAYS)
        rays = np.empty((65, len(_WAYS), 7), dtype=np.int64)  # the squares of each line, the nearest first
        rays[..., 0] = step
        for far in range(1, 7):
            rays[..., far] = step[rays[..., far - 1], np.arange(len(_WAYS))]
        line = np.full((65, 65), -1)  # on which line from a square another one lies
        for way in range(len(_WAYS)):
            line[np.arange(65)[:, None], rays[:, way]] = way
        line[:, _OUTSIDE] = -1
        along = line[:64, moves.SOURCE] == line[:64, moves.TARGET]  # [king's square, move]: on one line from the king
        self.rays: Tensor
        self.leaped: Tensor
        self.around: Tensor
        self.along: Tensor
        self.source: Tensor
        self.target: Tensor
        for name, array in (
            ("rays", rays),
            ("leaped", _steps(_LEAPS)),
            ("around", _steps((*_WAYS, *_CASTLES))),
            ("along", along),
            ("source", moves.SOURCE),
            ("target", moves.TARGET),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    def forward(self, squares: Tensor) -> Tensor:
        """Codes [batch, 64] of a1..h8, seen by the mover -> scores [batch, 1968]."""
        count = squares.shape[0]
        king = (squares == OWN_KING).to(torch.int32).argmax(1)
        board = F.pad(squares.masked_fill(squares == OWN_KING, 0), (0, 1))  # a king that steps back hides nothing
        stands = torch.cat([king[:, None], self.around[king]], dim=1)  # where it is, and where it could go [batch, 11]
        rays = self.rays[stands]  # [batch, 11, ways, 7]
        codes = board.gather(1, rays.flatten(1)).view_as(rays)
        first = (codes > 0).to(torch.int32).argmax(-1, keepdim=True)  # 0 where the line is empty, which shows code 0
        lines = self._line(codes.gather(-1, first)[..., 0], first[..., 0] == 0)  # [batch, 11, ways]
        leaps = LOUD * F.embedding(board.gather(1, self.leaped[stands].flatten(1)), self.leaps).view(count, -1, 8)
        looks = lines.sum(-1) + leaps.sum(-1)  # [batch, 11]
        here, steps, castles = looks[:, :1], looks[:, 1:9], looks[:, 9:]
        castles = castles + here + steps[:, :2]  # a king that castles leaves a square and passes one
        nothing = looks.new_zeros(count, 65)
        walked = nothing.scatter(1, stands[:, 1:], torch.cat([steps, castles], dim=1))

        ray, nearest = rays[:, 0], first[:, 0]  # of the king that stays: [batch, ways, 7] and [batch, ways, 1]
        seen = lines[:, 0, :, None] * (torch.arange(7, device=ray.device) <= nearest)
        closed = nothing.scatter_add(1, ray.flatten(1), seen.flatten(1))
        closed = closed.scatter_add(1, self.leaped[king], leaps[:, 0])  # a knight that is taken looks no more
        behind = codes[:, 0].scatter(-1, nearest, 0)
        second = behind.gather(-1, (behind > 0).to(torch.int32).argmax(-1, keepdim=True))[..., 0]
        opens = self._line(second, torch.zeros_like(second, dtype=torch.bool)) - lines[:, 0]
        opened = nothing.scatter(1, ray.gather(-1, nearest)[..., 0], opens)
        others = here - closed[:, self.target] + opened[:, self.source] * ~self.along[king]
        return torch.where(self.source == king[:, None], walked[:, self.target], others)

    def _line(self, codes: Tensor, next_to: Tensor) -> Tensor:
        """The numbers of pieces [batch, ..., ways] that end the lines."""
        rows = (torch.arange(len(_WAYS), device=codes.device) * 2 + next_to) * CODES + codes
        return LOUD * F.embedding(rows, self.lines)[..., 0]
