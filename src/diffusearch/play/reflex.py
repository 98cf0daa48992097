"""A move without thinking, for when the flag is about to fall: what was imagined before, else the most material.

On a machine that is far too busy even one denoising step can take longer than the clock has. Losing on time there
would be losing to the scheduler. The engine says so in an `info string` whenever it plays such a move.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from diffusearch.agents.base import Decision, Limits


class Memory:
    """The last imagined line: our move, the expected reply, our next move ..."""

    def __init__(self) -> None:
        self._after: dict[str, tuple[chess.Move, ...]] = {}  # FEN two plies on -> the rest of the line

    def keep(self, board: chess.Board, line: Sequence[chess.Move]) -> None:
        """Remember a legal line from a position."""
        self._after = {}
        if len(line) > 2:
            board = board.copy(stack=False)
            board.push(line[0])
            board.push(line[1])
            self._after[board.fen()] = tuple(line[2:])

    def rest(self, board: chess.Board) -> tuple[chess.Move, ...]:
        """What was imagined from here on, if the expected reply was played."""
        return self._after.get(board.fen(), ())


def reflex(board: chess.Board, moves: tuple[chess.Move, ...], memory: Memory, seed: int) -> Decision:
    """The remembered move if there is one, else what a greedy player does; `moves` are the allowed ones, () = all."""
    from diffusearch.agents.simple import GreedyMaterialAgent  # here, because numpy comes with it

    line = memory.rest(board)
    if line and (not moves or line[0] in moves):
        return Decision(line[0], {line[0]: 1.0}, line)
    return GreedyMaterialAgent(seed=seed).play(board, Limits(moves=moves))
