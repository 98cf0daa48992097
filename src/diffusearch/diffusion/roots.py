"""The positions that a batch starts from, with their legal moves: generated once, used for masks and for reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np
import torch
from torch import Tensor

from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout

Allowed = Sequence[Sequence[chess.Move]]  # the moves that may be played on each board


@dataclass(frozen=True)
class Roots:
    """Boards, their legal moves in python-chess's order, and the tokens of those in the layout's frame."""

    boards: Sequence[chess.Board]
    moves: list[list[chess.Move]]
    tokens: list[list[int]]

    @classmethod
    def of(cls, boards: Sequence[chess.Board], layout: Layout) -> Roots:
        """The roots of a batch."""
        legal = [list(board.legal_moves) for board in boards]
        return cls(boards, legal, tokens_of(boards, legal, layout))

    def mask(self) -> Tensor:
        """The legal moves [n, moves] as bools, in the layout's frame; NONE where the game is over."""
        return token_mask([own or [moves.NONE] for own in self.tokens])


def tokens_of(boards: Sequence[chess.Board], some: Allowed, layout: Layout) -> list[list[int]]:
    """The tokens of some moves of each board in the layout's frame."""
    turned = layout.encoding.turned
    return [moves.move_ids(own, turned and not board.turn) for board, own in zip(boards, some, strict=True)]


def token_mask(tokens: Sequence[Sequence[int]]) -> Tensor:
    """Lists of move tokens as bools [n, moves]."""
    mask = np.zeros((len(tokens), moves.VOCABULARY), dtype=bool)
    rows = np.repeat(np.arange(len(tokens)), [len(own) for own in tokens])
    mask[rows, [token for own in tokens for token in own]] = True
    return torch.from_numpy(mask)


def masked(given: Tensor, layout: Layout) -> Tensor:
    """Given variables [n, given variables], everything else masked: [n, variables]."""
    masks = torch.from_numpy(layout.sizes[layout.given_variables :]).expand(len(given), -1)
    return torch.cat([given, masks], dim=1)
