"""s-v and sa-v: play the move after which the mover's win probability is highest.

The value of the next state is the *opponent's*, who is to move there: the mover has 1 - v. Where a move ends the game
the rules give the value and no network is asked: mate 1, any draw 1/2 (repetition is seen through the history).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import chess
import numpy as np

from diffusearch.agents.onestep import OneStep, Weighed, shares_of
from diffusearch.search.evaluator import DOUBT, Evaluator
from diffusearch.search.outcome import value_after, value_of_last_move

BOARDS = 64  # whose next states (about 30 each) go to the network in one call


class ActionValue(Protocol):
    """q(s, a): how good each legal move is."""

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each board and legal move the win probability of the mover after the move, in [0, 1]."""
        ...


class StateValueAgent(OneStep):
    """s-v: looks at every next state with a value network, all of them in one batch."""

    def __init__(self, net: Evaluator, name: str = "s-v", **settings: Any) -> None:
        super().__init__(name, **settings)
        self.net = net

    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        """Some boards at a time: their next states are all in memory at once."""
        out: list[Weighed] = []
        for start in range(0, len(boards), BOARDS):
            out += self._weigh(boards[start : start + BOARDS], moves[start : start + BOARDS])
        return out

    def _weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        values: list[dict[chess.Move, float]] = [{} for _ in boards]
        asked: list[tuple[int, chess.Move]] = []  # whose value the network gives
        nexts: list[chess.Board] = []
        for index, (board, own) in enumerate(zip(boards, moves, strict=True)):
            for move in own:
                board.push(move)
                end = value_of_last_move(board)
                values[index][move] = 0.5 if end is None else end  # keeps the moves' order
                if end is None:
                    asked.append((index, move))
                    nexts.append(board.copy(stack=1))
                board.pop()
        if nexts:
            theirs = np.array([one.value for one in self.net.evaluate(nexts, priors=False)], dtype=np.float64)
            mine = np.clip(1.0 - theirs, DOUBT, 1.0 - DOUBT)
            for (index, move), value in zip(asked, mine.tolist(), strict=True):
                values[index][move] = value
        looked = np.bincount([index for index, _ in asked], minlength=len(boards))
        return [Weighed(shares_of(one), one, int(looked[index])) for index, one in enumerate(values)]


class ActionValueAgent(OneStep):
    """sa-v: one network call scores all moves; moves that end the game are scored by the rules."""

    def __init__(self, net: ActionValue, name: str = "sa-v", **settings: Any) -> None:
        super().__init__(name, **settings)
        self.net = net

    def weigh(self, boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> list[Weighed]:
        out: list[Weighed] = []
        for board, own, scores in zip(boards, moves, self.net.action_values(boards), strict=True):
            values: dict[chess.Move, float] = {}
            for move in own:
                end = value_after(board, move)
                values[move] = min(max(scores[move], DOUBT), 1.0 - DOUBT) if end is None else end
            out.append(Weighed(shares_of(values), values, len(own)))
        return out
