"""Two ways to write a state as variables: the paper's 77 characters, and the compact turned board.

An encoding maps rows (see states.py) to local token ids and back, for whole batches at once. Each variable
has its own vocabulary (its type's); the mask token of a variable is the id just after its vocabulary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.tokens import states
from diffusearch.tokens.states import InvalidState, Rows

Tokens = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slot:
    """One variable of a state: the type that names its vocabulary, and the vocabulary's size."""

    type: str
    size: int


class Encoding(Protocol):
    """What a layout needs to know of a state's variables."""

    name: str
    slots: tuple[Slot, ...]
    squares: npt.NDArray[np.int64]  # for each of the first 64 slots, the square (0..63) of the frame it speaks of
    turned: bool  # whether squares and moves are seen by the root's mover

    def encode(self, rows: Rows, black: Flags, numbers: npt.NDArray[np.int64]) -> Tokens:
        """Rows [n, 68], whether the root's mover is Black [n], full-move numbers [n] -> tokens [n, slots]."""

    def decode(self, tokens: npt.NDArray[np.integer], mover: chess.Color, number: int) -> chess.Board:
        """Tokens [slots] -> the position; raises InvalidState with the reason."""

    @property
    def unmoved(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How a state would look one ply later if no piece moved: factor and summand [slots] of each token.

        Variables that change in ways not so simple just keep their token.
        """


class Compact:
    """64 squares, castling rights, en-passant file, side and clock, all seen by the root's mover.

    The colour of the mover and the full-move number stay outside the tokens: the root knows them.
    """

    name = "compact"
    turned = True
    slots: tuple[Slot, ...] = (
        *(Slot("square", 13),) * 64,
        Slot("castling", 16),
        Slot("en passant", 9),
        Slot("side", 2),
        Slot("clock", 256),
    )
    squares: npt.NDArray[np.int64] = np.arange(64)

    def encode(self, rows: Rows, black: Flags, numbers: npt.NDArray[np.int64]) -> Tokens:
        return rows.astype(np.int16)

    def decode(self, tokens: npt.NDArray[np.integer], mover: chess.Color, number: int) -> chess.Board:
        return states.row_board(tokens.astype(np.uint8), mover, number)

    @property
    def unmoved(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        factor, summand = np.ones(len(self.slots), dtype=np.int64), np.zeros(len(self.slots), dtype=np.int64)
        factor[states.EN_PASSANT], factor[states.SIDE] = 0, -1
        summand[states.SIDE], summand[states.CLOCK] = 1, 1
        return factor, summand


_SQUARE_CHARS = ".PNBRQKpnbrqk"
_CHARS = {
    "square": _SQUARE_CHARS,
    "side": "wb",
    "castling": ".KQkq",
    "file": "-abcdefgh",
    "rank": ".36",
    "digit": ".0123456789",
}
SWAP = np.array([0, *range(7, 13), *range(1, 7)], dtype=np.uint8)  # own <-> opponent's piece codes
_FROM_A8 = np.array([(7 - i // 8) * 8 + i % 8 for i in range(64)])
# FEN writes rights as a text without gaps: all 16 sets of rights, left-aligned, as ids into ".KQkq".
_RIGHTS = np.array([([bit + 1 for bit in range(4) if mask >> bit & 1] + [0] * 4)[:4] for mask in range(16)])
TURN_RIGHTS = np.array([mask >> 2 | (mask & 3) << 2 for mask in range(16)])
NUMBER_LIMIT = 999  # three characters


def _digits(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Numbers 0..999 as three left-aligned characters, padded with '.': ids [n, 3] into the digit vocabulary."""
    hundreds, tens, ones = numbers // 100, numbers // 10 % 10, numbers % 10
    three = np.stack([hundreds, tens, ones], 1) + 1
    two = np.stack([tens + 1, ones + 1, np.zeros_like(ones)], 1)
    one = np.stack([ones + 1, np.zeros_like(ones), np.zeros_like(ones)], 1)
    return np.where((numbers >= 100)[:, None], three, np.where((numbers >= 10)[:, None], two, one))


class Paper:
    """The paper's fixed-length FEN: 64 squares from a8, side, castling 4, en passant 2, clock 3, number 3 characters.

    Colours are absolute. 'b' the bishop and 'b' for Black are different types, so they never share a token.
    """

    name = "paper"
    turned = False
    slots: tuple[Slot, ...] = (
        *(Slot("square", 13),) * 64,
        Slot("side", 2),
        *(Slot("castling", 5),) * 4,
        Slot("file", 9),
        Slot("rank", 3),
        *(Slot("digit", 11),) * 6,
    )
    squares: npt.NDArray[np.int64] = _FROM_A8

    def encode(self, rows: Rows, black: Flags, numbers: npt.NDArray[np.int64]) -> Tokens:
        squares = np.where(black[:, None], SWAP[rows[:, np.arange(64) ^ 56]], rows[:, :64])[:, _FROM_A8]
        side = rows[:, states.SIDE] ^ black
        rights = np.where(black, TURN_RIGHTS[rows[:, states.CASTLING]], rows[:, states.CASTLING])
        file = rows[:, states.EN_PASSANT]
        rank = np.where(file == 0, 0, np.where(side == 0, 2, 1))  # White to move takes on the sixth rank
        clock = _digits(rows[:, states.CLOCK].astype(np.int64))
        number = _digits(np.minimum(numbers, NUMBER_LIMIT))
        parts = (squares, side[:, None], _RIGHTS[rights], file[:, None], rank[:, None], clock, number)
        return np.concatenate(parts, axis=1).astype(np.int16)

    def text(self, tokens: npt.NDArray[np.integer]) -> str:
        """The 77 characters."""
        return "".join(_CHARS[slot.type][int(token)] for slot, token in zip(self.slots, tokens, strict=True))

    def decode(self, tokens: npt.NDArray[np.integer], mover: chess.Color, number: int) -> chess.Board:
        text = self.text(tokens)
        squares, side, rights, en_passant, clock, full = (
            text[:64], text[64], text[65:69], text[69:71], text[71:74], text[74:77],
        )  # fmt: skip
        ranks = (squares[i : i + 8] for i in range(0, 64, 8))
        placement = re.sub(r"\.+", lambda empty: str(len(empty.group())), "/".join(ranks))
        fields = (rights.rstrip(".") or "-", en_passant.rstrip("."), clock.rstrip("."), full.rstrip("."))
        if any("." in field for field in fields) or not all(field.isdigit() for field in fields[2:]):
            raise InvalidState(f"the fields after the board make no FEN: {text[64:]!r}")
        try:
            board = chess.Board(f"{placement} {side} {' '.join(fields)}")
        except ValueError as error:
            raise InvalidState(str(error)) from None
        problem = states.board_problem(board)
        if problem:
            raise InvalidState(problem)
        if self.text(self.encode_board(board)) != text:
            raise InvalidState(f"the fields after the board are not as FEN writes them: {text[64:]!r}")
        return board

    @property
    def unmoved(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        factor, summand = np.ones(len(self.slots), dtype=np.int64), np.zeros(len(self.slots), dtype=np.int64)
        factor[64], summand[64] = -1, 1  # the other side is to move
        return factor, summand

    def encode_board(self, board: chess.Board) -> Tokens:
        """The tokens [77] of one board."""
        row = states.board_row(board, chess.WHITE)[None]
        tokens: Tokens = self.encode(row, np.array([False]), np.array([board.fullmove_number]))[0]
        return tokens


ENCODINGS: dict[str, Encoding] = {"paper": Paper(), "compact": Compact()}
