"""Judging the futures of a fan, in log odds of the root's mover, as players would.

- Where the opponent is to move, the future that is worst for the mover counts.
- Where the mover is, the mean of how that state looks and its best future: a best move that is only imagined is
  trusted half.
- The last states of the fan count as they look, and ends of the game by the rules.
The score of a move, for whoever plays it, is
    log share + trust * judgement of the state behind it, in the player's view
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.agents.fan import State


def judgement(before: State, state: State | None) -> float:
    """The mover's log odds of winning behind a move.

    Where no valid state was imagined the value before the move stands: it is neither better nor worse for it.
    """
    if state is None:
        return before.odds
    if not state.futures:
        return state.odds
    scores = [judgement(state, future) for future in state.futures.values()]
    return (state.odds + max(scores)) / 2 if state.board.turn == state.mover else min(scores)


def scores(state: State, trust: float) -> npt.NDArray[np.float64]:
    """The scores of the moves that were followed from a state, in their order, for the side that is to move there."""
    mass = np.array([state.shares[move] for move in state.futures])
    odds = np.array([judgement(state, future) for future in state.futures.values()])
    own = odds if state.board.turn == state.mover else -odds
    weighed: npt.NDArray[np.float64] = np.log(np.maximum(mass, 1e-12)) + trust * own
    return weighed
