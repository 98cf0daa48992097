"""Labelled test positions: the board, the oracle's line, the ply, the players' rating, the scores of all moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import chess

from diffusearch.data.labelled import read_labelled
from diffusearch.data.labelling import Row
from diffusearch.data.scores import parse_actions
from diffusearch.data.show import phase
from diffusearch.errors import UserError
from diffusearch.evaluation.rows import chosen
from diffusearch.fen import position_of


@dataclass(frozen=True)
class LabelledPosition:
    """One labelled state."""

    fen: str
    line: tuple[str, ...]  # the oracle's moves in UCI, the first is its action; empty where there is no label
    ply: int = 0  # half-moves before it
    rating: int | None = None  # mean of the players, where the file knows it
    scores: dict[str, int] | None = None  # UCI -> centipawns for the mover (mates beyond 999,000), if all were searched

    @property
    def action(self) -> str:
        """What the oracle plays."""
        return self.line[0]

    @property
    def phase(self) -> str:
        """Opening, middlegame or endgame, by the same rule as `diffusearch data show`."""
        return phase(self.fen, self.ply)

    def board(self) -> chess.Board:
        """A fresh board."""
        return position_of(self.fen)


def read_positions(
    path: Path, limit: int | None = None, seed: int | None = None, split: str | None = None, skip: int = 0
) -> list[LabelledPosition]:
    """The positions of a labelled file or folder: all, or those that are chosen (rows.py).

    `split` keeps only the games of the split `train`, `validation` or `test`; without it all count.
    """
    rows = (_position(row) for row in read_labelled(path, split) if row["line"])
    positions = chosen(rows, limit, seed, skip)
    if not positions:
        behind = f" behind its first {skip}" if skip else ""
        raise UserError(f"{path} holds no labelled position{behind}: label some games first.")
    return positions


def _position(row: Row) -> LabelledPosition:
    actions = parse_actions(row["actions"]) if row["actions"] else None
    return LabelledPosition(
        fen=row["fen"],
        line=tuple(row["line"].split()),
        ply=row["ply"],
        rating=row["rating"],
        scores={move: score.order() for move, score in actions.items()} if actions else None,
    )
