"""Puzzles that the project made itself (see `make_puzzles`).

A puzzle's solution alternates the solver's moves and the opponent's answers, and begins and ends with the
solver. Each solver's move is the only one that wins; at the last move any checkmate counts as right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import chess

from diffusearch.errors import UserError


@dataclass(frozen=True)
class PagePuzzle:
    fen: str
    solution: tuple[str, ...]  # UCI, odd length: the solver moves first and last
    rating: int

    @property
    def length(self) -> int:
        """How many moves the solver has to find."""
        return (len(self.solution) + 1) // 2

    def right(self, moves: list[str]) -> bool:
        """Whether the last of `moves` (all moves since the start, the solver's last) keeps to the solution."""
        before, played = moves[:-1], moves[-1]
        if tuple(before) != self.solution[: len(before)] or len(before) % 2 or len(before) >= len(self.solution):
            raise UserError("These moves do not lead into the puzzle; start it again.")
        board = chess.Board(self.fen)
        for uci in before:
            board.push_uci(uci)
        try:
            board.push_uci(played)
        except ValueError as error:
            raise UserError(f"{played} is not legal in {board.fen()}; play another move.") from error
        return played == self.solution[len(before)] or board.is_checkmate()

    def san(self) -> list[str]:
        """The solution as a player writes it."""
        board = chess.Board(self.fen)
        out = []
        for uci in self.solution:
            out.append(board.san(chess.Move.from_uci(uci)))
            board.push_uci(uci)
        return out


@cache
def puzzles() -> tuple[PagePuzzle, ...]:
    """The packaged puzzles, easiest first."""
    text = files("diffusearch.play").joinpath("puzzles.json").read_text(encoding="utf-8")
    return tuple(
        PagePuzzle(fen=entry["fen"], solution=tuple(entry["solution"].split()), rating=entry["rating"])
        for entry in json.loads(text)["puzzles"]
    )
