"""A move without the network, for when the clock is about to run out: the expected line, else the most material.

On a busy machine even one network call can take longer than the clock allows. The engine says so in an `info string`
whenever it plays such a move.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from diffusearch.agents.base import Decision, Limits


class ExpectedLine:
    """The last line: our move, the expected reply, our next move ..."""

    def __init__(self) -> None:
        self._after: dict[str, tuple[chess.Move, ...]] = {}  # FEN two plies later -> the rest of the line

    def keep(self, board: chess.Board, line: Sequence[chess.Move]) -> None:
        """Keep a legal line from a position."""
        self._after = {}
        if len(line) > 2:
            board = board.copy(stack=False)
            board.push(line[0])
            board.push(line[1])
            self._after[board.fen()] = tuple(line[2:])

    def rest(self, board: chess.Board) -> tuple[chess.Move, ...]:
        """The rest of the line, if the expected reply was played."""
        return self._after.get(board.fen(), ())


def fallback_move(board: chess.Board, moves: tuple[chess.Move, ...], expected: ExpectedLine, seed: int) -> Decision:
    """The expected move if there is one, else that of the greedy player; `moves` are the allowed ones, () = all.

    A timer calls this while the worker thread still reads `board`: the greedy player makes its moves on a copy.
    """
    from diffusearch.agents.simple import GreedyMaterialAgent  # here, because it imports numpy

    line = expected.rest(board)
    if line and (not moves or line[0] in moves):
        return Decision(line[0], {line[0]: 1.0}, line)
    return GreedyMaterialAgent(seed=seed).play(board.copy(), Limits(moves=moves))
