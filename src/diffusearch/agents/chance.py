"""Sampling: a generator that depends on the seed and the game alone, and a choice of moves with temperature.

The same seed in the same game always gives the same move, whether it is decided alone or in a batch, in one
process or in many, in one go or after a resume. For other games of the same agent, give another seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import chess
import numpy as np
import numpy.typing as npt


def number(seed: int, boards: Sequence[chess.Board]) -> int:
    """A 63-bit number from the seed and the boards with their histories."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8)
    for board in boards:
        digest.update(board.root().fen().encode())
        digest.update(" ".join(move.uci() for move in board.move_stack).encode())
    return int.from_bytes(digest.digest(), "big") >> 1


def generator(seed: int, board: chess.Board) -> np.random.Generator:
    """The generator for one decision."""
    return np.random.default_rng(number(seed, [board]))


def sharpened(shares: npt.NDArray[np.float64], temperature: float) -> npt.NDArray[np.float64]:
    """shares ** (1 / temperature), normalised; infinite temperature makes all moves alike. Shape kept."""
    if np.isinf(temperature):
        return np.full_like(shares, 1.0 / len(shares))
    with np.errstate(divide="ignore"):  # a probability of 0 has logarithm -inf and stays 0
        logs = np.log(shares) / temperature
    powers = np.exp(logs - logs.max())
    out: npt.NDArray[np.float64] = powers / powers.sum()
    return out


def choose(shares: Mapping[chess.Move, float], temperature: float, seed: int, board: chess.Board) -> chess.Move:
    """The likeliest move at temperature 0 (the first of equals), else sampled from the sharpened probabilities."""
    moves = list(shares)
    weights = np.fromiter(shares.values(), dtype=np.float64, count=len(moves))
    if temperature == 0.0:
        return moves[int(weights.argmax())]
    return moves[int(generator(seed, board).choice(len(moves), p=sharpened(weights, temperature)))]
