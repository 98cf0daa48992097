"""Boards -> arrays: the positions that a batch starts from, their tokens and their legal moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.inference.evaluation import Allowed
from diffusearch.tokens import moves, states
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.record_tokens import Bools, Ints, record_tokens
from diffusearch.tokens.values import UNKNOWN


@dataclass(frozen=True)
class Roots:
    """Boards, their legal moves in python-chess's order, and the tokens of those in the layout's frame."""

    boards: Sequence[chess.Board]
    moves: list[list[chess.Move]]
    tokens: list[list[int]]

    @classmethod
    def of(cls, boards: Sequence[chess.Board], layout: Layout) -> Roots:
        """The roots of a batch; legal moves are generated once."""
        legal = [list(board.legal_moves) for board in boards]
        return cls(boards, legal, move_tokens(boards, legal, layout))


def given_variables(boards: Sequence[chess.Board], layout: Layout) -> Ints:
    """The given variables [n, given variables] of positions."""
    count = len(boards)
    arrays: dict[str, npt.NDArray[Any]] = {
        "states": np.stack([states.board_row(board, board.turn) for board in boards])[:, None],
        "moves": np.zeros((count, 1), dtype=np.uint16),
        "values": np.full((count, 1), UNKNOWN, dtype=np.uint8),
        "known": np.zeros(count, dtype=np.uint8),
        "black": np.array([not board.turn for board in boards]),
        "number": np.array([board.fullmove_number for board in boards], dtype=np.int64),
    }
    return record_tokens(arrays, layout.truncated(1))[0][:, : layout.given_variables]


def move_tokens(boards: Sequence[chess.Board], some: Allowed, layout: Layout) -> list[list[int]]:
    """The tokens of some moves of each board in the layout's frame."""
    turned = layout.encoding.turned
    return [moves.move_ids(own, turned and not board.turn) for board, own in zip(boards, some, strict=True)]


def token_mask(tokens: Sequence[Sequence[int]]) -> Bools:
    """Lists of move tokens as bools [n, moves]; a position without moves allows NONE, "the game is over"."""
    mask = np.zeros((len(tokens), moves.VOCABULARY), dtype=bool)
    rows = np.repeat(np.arange(len(tokens)), [len(own) for own in tokens])
    mask[rows, [token for own in tokens for token in own]] = True
    mask[~mask.any(1), moves.NONE] = True
    return mask


def refuse_finished(roots: Roots) -> None:
    """Refuse positions without a legal move."""
    for board, own in zip(roots.boards, roots.moves, strict=True):
        if not own:
            raise UserError(f"no legal move in {board.fen()!r}: the game is over")
