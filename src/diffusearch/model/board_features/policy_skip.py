"""Policy skip: move scores read directly from the board, past the trunk.

Whether a move is possible depends on its piece on the source square, empty squares between, and no own piece on the
target square: a sum of one number for each square says almost all of that. One table holds a number for every move and
the content of each of the 64 squares (and for castling rights and the en-passant file), one for the pieces on source
and target, and one for the moved piece when a piece stands between. King exposure is added. All tables start at zero
and are learned. The trunk is left with what such a sum cannot express: which move is good.

If the opponent of the root's mover is to move, the state is turned first, so that both sides share the tables.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from diffusearch.model.board_features.king_exposure import KingExposure
from diffusearch.model.board_features.lines import CODES, between_moves
from diffusearch.model.config import LEARNING_RATE_MULTIPLIER
from diffusearch.model.tables import numbers, sum_rows
from diffusearch.tokens import moves
from diffusearch.tokens.encodings import SWAP, TURN_RIGHTS
from diffusearch.tokens.states import CASTLING, EN_PASSANT

_SIZES = (*(CODES,) * 64, 16, 9)  # the squares, the castling rights, the en-passant file
_SLOTS = [*range(64), CASTLING, EN_PASSANT]


class PolicySkip(nn.Module):
    """States of the compact encoding -> scores of moves."""

    def __init__(self) -> None:
        super().__init__()
        self.king_exposure = KingExposure()
        self.squares = nn.Parameter(torch.zeros(sum(_SIZES), len(moves.SOURCE)))
        self.pairs = nn.Parameter(torch.zeros(len(moves.SOURCE) * CODES**2, 1))
        self.blocked = nn.Parameter(torch.zeros(CODES, 1))
        self.between: Tensor
        self.first_row: Tensor
        self.first_pair: Tensor
        self.turned_moves: Tensor
        self.turned_codes: Tensor
        self.turned_rights: Tensor
        for name, array in (
            ("between", between_moves()),
            ("first_row", np.cumsum((0, *_SIZES[:-1]))),
            ("first_pair", np.arange(len(moves.SOURCE)) * CODES**2),
            ("turned_moves", moves.TURN[: len(moves.SOURCE)]),
            ("turned_codes", SWAP.astype(np.int64)),
            ("turned_rights", TURN_RIGHTS),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    def forward(self, state: Tensor, *, opponent: bool) -> Tensor:
        """States [batch, slots] in the root's frame -> scores [batch, 1968] of the moves of the side to move there.

        `opponent`: the opponent of the root's mover is to move.
        """
        board = state[:, _SLOTS]
        if opponent:
            squares = self.turned_codes[board[:, :64]].view(-1, 8, 8).flip(1).flatten(1)
            board = torch.cat([squares, self.turned_rights[board[:, 64:65]], board[:, 65:]], dim=1)
        scores: Tensor = sum_rows(board + self.first_row, self.squares)
        both = board[:, moves.SOURCE] * CODES + board[:, moves.TARGET]
        scores = scores + numbers(both + self.first_pair, self.pairs)
        blocked = (board[:, :64] > 0).to(self.between.dtype) @ self.between > 0
        moved = numbers(board[:, moves.SOURCE], self.blocked)
        scores = scores + LEARNING_RATE_MULTIPLIER * blocked * moved
        scores = scores + self.king_exposure(board[:, :64])
        return scores[:, self.turned_moves] if opponent else scores
