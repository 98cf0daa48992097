"""Labelled test positions: the board, the oracle's line, the ply, the players' rating, the scores of all moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import chess

from diffusearch.data.labelled import labelled_files, read_labelled
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
    rows = (row for row in read_labelled(path, split) if row["line"].strip())
    positions = [_position(row) for row in chosen(rows, limit, seed, skip)]
    if not positions and skip:
        raise UserError(f"{path} holds no labelled position behind its first {skip}: give a smaller --skip.")
    if not positions:
        raise UserError(f"{path} holds no labelled position: label some games first.")
    for position in positions:
        _check(position, path)
    return positions


def _check(position: LabelledPosition, path: Path) -> None:
    """Refuse an illegal label, which no agent could play: each would count as wrong."""
    try:
        position.board().parse_uci(position.action)
    except ValueError:
        raise UserError(
            f"{_place(position, path)}: the line {' '.join(position.line)!r} is not legal from {position.fen!r}: run "
            f"`diffusearch data check {path}`."
        ) from None


def _place(position: LabelledPosition, path: Path) -> str:
    """The file and row of a position, counted as `diffusearch data check` does."""
    for file in labelled_files(path):
        for number, row in enumerate(read_labelled(file, failed=True)):
            if (row["fen"], tuple(row["line"].split())) == (position.fen, position.line):
                return f"{file}, row {number}"
    return str(path)  # the file has changed since


def _position(row: Row) -> LabelledPosition:
    return LabelledPosition(
        fen=row["fen"],
        line=tuple(row["line"].split()),
        ply=row["ply"],
        rating=row["rating"],
        scores=_scores(row["fen"], row["actions"]) if row["actions"] else None,
    )


def _scores(fen: str, text: str) -> dict[str, int] | None:
    """The scores of all legal moves; None where only some have one, as `diffusearch label --multipv` writes them."""
    actions = parse_actions(text)
    if actions.keys() != {move.uci() for move in position_of(fen).legal_moves}:
        return None
    return {move: score.order() for move, score in actions.items()}
