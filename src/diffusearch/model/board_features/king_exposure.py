"""King exposure: move scores from the pieces that would attack the mover's king after the move.

Most illegal moves that look possible leave the mover's king in check: the piece was pinned, or a check had to be
answered. An attack on a king comes from the first piece on one of its eight lines or from a knight's jump away. A move
changes these in few ways: a piece steps into a line, or leaves it and opens it, or the king itself moves. Each move is
scored by the sum of one number for each piece that its king would meet: by line, adjacent or farther, and piece. The
numbers start at zero and are learned: the board after a move is geometry, which piece gives check on which line is not
given. (En passant removes a second piece, which is ignored here.)
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.board_features.geometry import CASTLES, JUMPS, LINES, line_of, rays_of, steps_of
from diffusearch.model.board_features.lines import CODES
from diffusearch.model.config import LEARNING_RATE_MULTIPLIER
from diffusearch.model.tables import numbers
from diffusearch.tokens import moves
from diffusearch.tokens.states import OWN_KING


class KingExposure(nn.Module):
    """Squares of the compact encoding from the mover's side -> scores of moves."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = nn.Parameter(torch.zeros(len(LINES) * 2 * CODES, 1))
        self.jumps = nn.Parameter(torch.zeros(CODES, 1))
        line = line_of()
        along = line[:64, moves.SOURCE] == line[:64, moves.TARGET]  # [king's square, move]: the move stays on one line
        self.rays: Tensor
        self.jumped: Tensor
        self.around: Tensor
        self.along: Tensor
        self.source: Tensor
        self.target: Tensor
        for name, array in (
            ("rays", rays_of()),
            ("jumped", steps_of(JUMPS)),
            ("around", steps_of((*LINES, *CASTLES))),
            ("along", along),
            ("source", moves.SOURCE),
            ("target", moves.TARGET),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    def forward(self, squares: Tensor) -> Tensor:
        """Codes [batch, 64] of a1..h8 from the mover's side -> scores [batch, 1968]."""
        count = squares.shape[0]
        king = (squares == OWN_KING).to(torch.int32).argmax(1)
        board = F.pad(squares.masked_fill(squares == OWN_KING, 0), (0, 1))  # a king that steps back blocks no line
        stands = torch.cat([king[:, None], self.around[king]], dim=1)  # [batch, 11]: it stays, steps or castles
        rays = self.rays[stands]  # [batch, 11, lines, 7]
        codes = board.gather(1, rays.flatten(1)).view_as(rays)
        first = (codes > 0).to(torch.int32).argmax(-1, keepdim=True)  # 0 on an empty line, where the code is 0
        lines = self._line(codes.gather(-1, first)[..., 0], first[..., 0] == 0)  # [batch, 11, lines]
        pieces = board.gather(1, self.jumped[stands].flatten(1))
        jumps = LEARNING_RATE_MULTIPLIER * numbers(pieces, self.jumps).view(count, -1, 8)
        exposure = lines.sum(-1) + jumps.sum(-1)  # [batch, 11]
        here, steps, castles = exposure[:, :1], exposure[:, 1:9], exposure[:, 9:]
        castles = castles + here + steps[:, :2]  # castling out of, through and into check
        zeros = exposure.new_zeros(count, 65)
        king_moves = zeros.scatter(1, stands[:, 1:], torch.cat([steps, castles], dim=1))

        # moves of other pieces: the target closes a line or captures an attacker, the source opens a line
        ray, nearest = rays[:, 0], first[:, 0]  # [batch, lines, 7] and [batch, lines, 1]
        reached = lines[:, 0, :, None] * (torch.arange(7, device=ray.device) <= nearest)
        closed = zeros.scatter_add(1, ray.flatten(1), reached.flatten(1))
        closed = closed.scatter_add(1, self.jumped[king], jumps[:, 0])
        behind = codes[:, 0].scatter(-1, nearest, 0)
        second = behind.gather(-1, (behind > 0).to(torch.int32).argmax(-1, keepdim=True))[..., 0]
        opens = self._line(second, torch.zeros_like(second, dtype=torch.bool)) - lines[:, 0]
        opened = zeros.scatter(1, ray.gather(-1, nearest)[..., 0], opens)
        others = here - closed[:, self.target] + opened[:, self.source] * ~self.along[king]
        return torch.where(self.source == king[:, None], king_moves[:, self.target], others)

    def _line(self, codes: Tensor, adjacent: Tensor) -> Tensor:
        """The numbers [batch, ..., lines] of the first pieces on the lines."""
        rows = (torch.arange(len(LINES), device=codes.device) * 2 + adjacent) * CODES + codes
        return LEARNING_RATE_MULTIPLIER * numbers(rows, self.lines)
