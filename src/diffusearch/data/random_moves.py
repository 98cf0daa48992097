"""Random-move augmentation: records whose first move is a random legal move instead of the oracle's.

The oracle's lines only show states after good moves. An agent that imagines the state after any move needs examples of
other moves too. A random legal move needs no search, and the rules give the state after it. Training learns that state
only: the move is not the oracle's action, so it is no target for the policy.
"""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.tokens import moves, states
from diffusearch.tokens.values import UNKNOWN


def play_random_moves(
    arrays: dict[str, npt.NDArray[Any]], share: float, generator: np.random.Generator
) -> dict[str, Any]:
    """Replace the line of a share of the records by one random legal move and the state after it.

    The new array "random_move" [n] bool marks these records. Records of finished games stay as they are.
    """
    out = {name: np.array(array) for name, array in arrays.items()}
    legal = np.unpackbits(arrays["legal"], axis=1, bitorder="little")[:, : moves.NONE]
    out["random_move"] = (generator.random(len(legal)) < share) & legal.any(1)
    for index in np.flatnonzero(out["random_move"]).tolist():
        token = int(generator.choice(np.flatnonzero(legal[index])))
        board = states.row_board(arrays["states"][index, 0], chess.WHITE)  # in the mover's frame
        board.push_uci(moves.MOVES[token])
        out["moves"][index] = [token, *[moves.NONE] * (out["moves"].shape[1] - 1)]
        out["states"][index, 1:] = states.board_row(board, chess.WHITE)
        out["values"][index, 1:] = UNKNOWN
        out["known"][index] = 1  # the move and the state after it
        if "scored_moves" in out:
            out["scored_moves"][index], out["scored_wins"][index] = moves.NONE, 0
    return out
