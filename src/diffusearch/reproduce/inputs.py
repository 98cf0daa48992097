"""The files that `reproduce all` is given, looked at before anything starts: games, puzzles, test positions.

A digest has the bytes of these files (digests.py): with a mistyped path no result would count as measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.pgn import Broken
from diffusearch.data.root_positions import split_of
from diffusearch.data.source_games import entries, is_labelled, is_puzzles
from diffusearch.errors import UserError
from diffusearch.reproduce.labels import LabelSet
from diffusearch.reproduce.plan import Setting


def check_inputs(setting: Setting) -> None:
    """Refuse a file that does not exist, or of which not even the first row can be read."""
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.puzzles import read_puzzles

    if setting.pgn is None or not setting.pgn.is_file():
        raise UserError(f"There is no file of games {setting.pgn}: give a PGN, plain or compressed, with --games.")
    if setting.puzzles is None:
        raise UserError("`reproduce all` measures puzzles too: give a table of lichess puzzles with --puzzles.")
    if not setting.puzzles.is_file():
        raise UserError(f"There is no puzzle file {setting.puzzles}: give a table of lichess puzzles with --puzzles.")
    _look(setting.pgn, lambda seen: seen.games > 0)
    read_puzzles(setting.puzzles, 1, skip=setting.skip_puzzles)
    if not setting.own_test and setting.actions:
        read_positions(setting.actions, 1, skip=setting.skip_actions)


def check_games(pgn: Path, sets: Sequence[LabelSet]) -> None:
    """Refuse a PGN with fewer games than the sets need; it is read only as far as they need it."""
    games = max((one.games for one in sets if not one.test), default=0)
    tests = max((one.games for one in sets if one.test), default=0)
    seen = _look(pgn, lambda seen: seen.games >= games and seen.tests >= tests)
    damaged = ", before the place where it is damaged" if seen.damaged else ""
    if seen.games < games:
        raise UserError(
            f"{pgn} has {seen.games:,} games that can be read{damaged}, and {games:,} are labelled for training: give "
            "a PGN with more games with --games."
        )
    if seen.tests < tests:
        raise UserError(
            f"{pgn} has {seen.tests:,} games of the test split among {seen.games:,}{damaged}, and {tests:,} are "
            "labelled for the tests: give a PGN with more games with --games, or labelled test positions with "
            "--actions."
        )


@dataclass
class _Seen:
    """What was found in a PGN so far."""

    games: int = 0  # that can be read
    tests: int = 0  # of these in the test split
    refused: int = 0
    reason: str = ""  # why the first of the refused ones was
    damaged: bool = False


def _look(path: Path, enough: Callable[[_Seen], bool]) -> _Seen:
    """Read games until there are enough; a file without a game is no PGN."""
    if is_labelled(str(path)) or is_puzzles(str(path)):
        kind = "a table of puzzles" if is_puzzles(str(path)) else "a Parquet file"
        raise UserError(f"{path} is {kind}, not games: give a PGN, plain or compressed, with --games.")
    seen, stream = _Seen(), entries(str(path), own_plies=False)
    while not enough(seen):
        try:
            entry = next(stream, None)
        except Broken as broken:  # the archive ends here
            seen.damaged, seen.reason = True, seen.reason or str(broken)
            break
        if entry is None:
            break
        try:
            game = entry.read(HeaderFilter())
        except Broken as broken:
            seen.refused, seen.reason = seen.refused + 1, seen.reason or str(broken)
            continue
        seen.games += 1
        seen.tests += split_of(game.key) == "test"
    if not seen.games and not enough(seen):
        why = f"none of its {seen.refused:,} sections is a game (the first: {seen.reason})" if seen.refused else ""
        raise UserError(
            f"{path} is no PGN, {why or seen.reason or 'it is empty'}: give a PGN, plain or compressed, with --games."
        )
    return seen
