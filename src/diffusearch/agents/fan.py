"""The fan: imagined futures that spread out from a position, a fixed number of the likeliest moves at each turn.

A fan 4x2 follows 4 first moves and 2 replies to each. All futures of a level are imagined in one batch, of all
positions that are asked about, and each imagined state is the root of what is imagined behind it. The rules say which
moves are legal in a position, imagined or not, and that one without moves is mate or stalemate; at the true root they
also say which moves end the game. They never say what a move does to the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import chess
import numpy as np

from diffusearch.agents.imagining import Imaginer
from diffusearch.agents.values import DOUBT, ends
from diffusearch.diffusion.roots import Allowed
from diffusearch.diffusion.unfolding import Unfolded
from diffusearch.search.nets import Value

Fan = tuple[int, ...]  # moves that are followed at each turn


class Foreseer(Imaginer, Value, Protocol):
    """A model that imagines states, and values them."""

    @property
    def foresees(self) -> bool: ...

    @property
    def horizon(self) -> int:
        """Plies that it imagines."""
        ...

    def unfold(self, boards: Sequence[chess.Board], count: int, legal: Allowed | None = None) -> list[Unfolded]:
        """Of each position shares, value and the imagined states behind its `count` likeliest moves."""
        ...


@dataclass
class State:
    """A position of the fan and what is imagined behind it."""

    board: chess.Board
    mover: chess.Color  # who moves at the root
    odds: float = 0.0  # the mover's log odds of winning, as the model sees them or, where the game is over, the rules
    over: bool = False
    seen: Unfolded | None = None  # what the model saw here; None at the ends of the fan
    futures: dict[chess.Move, State | None] = field(default_factory=dict)  # None: no valid position was imagined

    @property
    def shares(self) -> dict[chess.Move, float]:
        """Of the moves, as they look at a glance."""
        return self.seen.shares if self.seen else {}

    @property
    def evaluations(self) -> int:
        """How many positions and states behind them the network was asked about, from here on."""
        behind = (1 + (future.evaluations if future and not future.over else 0) for future in self.futures.values())
        return 1 + sum(behind)


def rounds(fan: Fan) -> int:
    """Network calls that a fan takes, each with a batch: a glance and the states at each turn, and the last values."""
    return 2 * len(fan) + 1


def evaluations(fan: Fan) -> int:
    """Positions and states that the network is asked about in a whole fan (it is less where moves are few)."""
    total = states = 1
    for count in fan:
        total += 2 * states * count  # each is imagined, then looked at
        states *= count
    return total


def grow(net: Foreseer, boards: Sequence[chess.Board], legal: Allowed | None, fan: Fan) -> list[State]:
    """The roots of the fans; `legal` narrows the first moves of each board."""
    roots = [State(board, board.turn) for board in boards]
    level = roots
    for ply, count in enumerate(fan):
        seen = net.unfold([state.board for state in level], count, legal if ply == 0 else None)
        for state, one in zip(level, seen, strict=True):
            state.odds, state.seen = _movers(state, one.value), one
            for move, imagined in one.states.items():
                end = ends(state.board, move) if ply == 0 else None  # by the rules, with the game's history
                state.futures[move] = _behind(state, imagined.board) if end is None else _end(state, move, end)
        behind = [future for state in level for future in state.futures.values()]
        level = [future for future in behind if future is not None and not future.over]
    for state, value in zip(level, net.values([state.board for state in level]).tolist(), strict=True):
        state.odds = _movers(state, value)
    return roots


def _behind(state: State, board: chess.Board | None) -> State | None:
    """A state that was imagined behind another."""
    if board is None:
        return None
    if any(board.legal_moves):
        return State(board, state.mover)
    mated = 0.0 if board.turn == state.mover else 1.0
    return State(board, state.mover, log_odds(mated if board.is_check() else 0.5), over=True)


def _end(state: State, move: chess.Move, value: float) -> State:
    """The end of the game by the mover's first move, whatever was imagined."""
    board = state.board.copy(stack=False)
    board.push(move)
    return State(board, state.mover, log_odds(value), over=True)


def _movers(state: State, value: float) -> float:
    """The log odds of the root's mover, where `value` is the win probability of the side to move."""
    return log_odds(value if state.board.turn == state.mover else 1.0 - value)


def log_odds(probability: float) -> float:
    clipped = min(max(probability, DOUBT), 1.0 - DOUBT)
    return float(np.log(clipped / (1.0 - clipped)))
