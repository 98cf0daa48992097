"""Moves that are tried instead of the oracle's: what a board looks like after any legal move, not only after the best.

An oracle's lines show how pieces move in good play. Whoever imagines what lies behind other moves too must have seen
some: a random legal move costs no search, and the state behind it is as true as any other. Only that state is learnt.
"""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.tokens import moves, states
from diffusearch.tokens.values import UNKNOWN


def try_moves(arrays: dict[str, npt.NDArray[Any]], share: float, rng: np.random.Generator) -> dict[str, Any]:
    """In a share of the records a random legal move and the state behind it; the array "tried" [n] says in which."""
    out = {name: np.array(array) for name, array in arrays.items()}
    legal = np.unpackbits(arrays["legal"], axis=1, bitorder="little")[:, : moves.NONE]
    out["tried"] = (rng.random(len(legal)) < share) & legal.any(1)
    for index in np.flatnonzero(out["tried"]).tolist():
        token = int(rng.choice(np.flatnonzero(legal[index])))
        board = states.row_board(arrays["states"][index, 0], chess.WHITE)  # as the mover sees it
        board.push_uci(moves.MOVES[token])
        out["moves"][index] = [token, *[moves.NONE] * (out["moves"].shape[1] - 1)]
        out["states"][index, 1:] = states.board_row(board, chess.WHITE)
        out["values"][index, 1:] = UNKNOWN
        out["known"][index] = 1  # the move and the state behind it
    return out
