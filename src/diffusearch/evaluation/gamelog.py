"""The log of a tournament: one JSON line a finished game, on the disk before the next games are asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.evaluation.games import Played
from diffusearch.files import write_whole


class GameLog:
    """An append-only file of games."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Played]:
        """The games so far. A last line that a kill cut short is dropped; any other damage is an error."""
        if not self.path.exists():
            return []
        text = self.path.read_text()
        lines = text.split("\n")
        torn = lines.pop()  # what follows the last newline: nothing, unless writing was cut short
        games = []
        for number, line in enumerate(lines, start=1):
            try:
                games.append(Played.from_json(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise UserError(f"{self.path}, line {number} is no game ({error}): mend or delete the line.") from error
        if torn:
            write_whole(self.path, text[: len(text) - len(torn)])
        return games

    def append(self, games: Sequence[Played]) -> None:
        """Add games; they are on the disk when this returns."""
        with self.path.open("a") as file:
            file.write("".join(json.dumps(game.to_json()) + "\n" for game in games))
            file.flush()
            os.fsync(file.fileno())
