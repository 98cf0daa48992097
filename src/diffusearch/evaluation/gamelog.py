"""The log of a tournament: one JSON line a finished game, on the disk before the next games are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diffusearch.evaluation.games import Played
from diffusearch.evaluation.json_lines import JsonLines


class GameLog:
    """An append-only file of games."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = JsonLines(path, "game")

    def read(self) -> list[Played]:
        """The games so far."""
        games = []
        for number, line in enumerate(self.file.read(), start=1):
            try:
                games.append(Played.from_json(line))
            except (ValueError, TypeError, KeyError) as error:
                raise self.file.damaged(number, error) from error
        return games

    def append(self, games: Sequence[Played]) -> None:
        """Add games; they are on the disk when this returns."""
        self.file.append([game.to_json() for game in games])
