"""The records that a recipe names: labelled sets are replayed into arrays once, next to their source."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from diffusearch.data.held_out import HeldOut, boards_in
from diffusearch.data.labelled import SCORED, labelled_files, read_labelled, scored_moves
from diffusearch.data.records import Line, Records, played, write_records
from diffusearch.data.scores import Score, action_wins, parse_actions, parse_values
from diffusearch.errors import UserError
from diffusearch.files import locked
from diffusearch.tokens.values import value_bin
from diffusearch.training.recipe import Recipe

Say = Callable[[str], None]


def open_sources(recipe: Recipe, say: Say) -> tuple[list[Records], Records | None]:
    """All sources of a recipe and its validation records (None where the split is empty)."""
    data, horizon = recipe.data, recipe.model.horizon
    if not data.sources:
        raise UserError(f"the recipe {recipe.name!r} names no data: give data.sources a path")
    for source in data.sources:
        if not Path(source.path).exists():
            raise UserError(
                f"there are no labels at {source.path}: make them with `diffusearch label GAMES.pgn --out "
                f"{source.path}`, or name yours with --set 'data.sources=[{{path=\"FOLDER\"}}]'"
            )
    by_action = recipe.model.paradigm == "sa-v"
    records = [
        records_of(Path(s.path), horizon, "train", data.cache, by_action, say, s.ply, s.games) for s in data.sources
    ]
    if data.held_out:
        held_out = HeldOut(board for path in data.held_out for board in boards_in(path))
        spared = [held_out.spared_by(one) for one in records]
        for before, after in zip(records, spared, strict=True):
            say(f"{before.folder}: {len(before) - len(after)} of {len(before)} records meet held-out positions")
            if len(before) and not len(after):
                raise UserError(f"every record of {before.folder} meets a held-out position: leave this source out")
        records = spared
    for one in records:
        if len(one) == 0:
            advice = "label with --actions" if by_action else "label more games"
            raise UserError(f"{one.folder} holds no record to train on: {advice}")
    validation = _validation(recipe, by_action, say)
    return records, validation if validation is not None and len(validation) else None


def _validation(recipe: Recipe, by_action: bool, say: Say) -> Records | None:
    """The whole of data.validation if that is given, else the validation split of the first source."""
    data, horizon = recipe.data, recipe.model.horizon
    if data.validation:
        if any(source.path == data.validation for source in data.sources):
            say(f"data.validation is {data.validation}, which is trained on too: its figures will be too high")
        return records_of(Path(data.validation), horizon, None, data.cache, by_action, say)
    first = Path(data.sources[0].path)
    if _holds_records(first):
        return None  # records have no split: all of them are trained on
    return records_of(first, horizon, "validation", data.cache, by_action, say)


def records_of(
    path: Path, horizon: int, split: str | None, cache: str, by_action: bool, say: Say, ply: int = 0, games: int = 0
) -> Records:
    """The records of a labelled set (one split or, for None, all rows), replayed on first use; or a records folder.

    `games` above 0: only those of the first so many games of the split.
    """
    if ply < 0 or (ply and by_action):
        raise UserError(f"{path} cannot begin at ply {ply}: a line has plies from 0 on, and scored actions only ply 0")
    if _holds_records(path):
        if ply or games:
            chosen = f"ply = {ply}" if ply else f"games = {games}"
            raise UserError(f"{path} holds records, not games with their lines: give the labelled set with {chosen}")
        records = Records(path)
        if records.horizon < horizon:
            raise UserError(f"{path} has horizon {records.horizon}, the model needs {horizon}: make it anew")
        return records
    fingerprint = _fingerprint(path)
    rows = split or "all"
    name = f"records-h{horizon}-{rows}" + ("-actions" if by_action else "") + (f"-ply{ply}" if ply else "")
    name += f"-games{games}" if games else ""
    scored = 0 if by_action or ply else scored_moves(path)
    name += f"-scored{scored}" if scored else ""
    home = Path(cache) / fingerprint[:12] if cache else path if path.is_dir() else path.with_suffix(".records")
    folder = home / name
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write records to {home} ({error.strerror}): set data.cache to a folder") from None
    if not os.access(home, os.W_OK):
        raise UserError(f"cannot write records to {home}: set data.cache to a folder of your own")
    with locked(home / ".replaying"):  # two trainings on the same labels may begin at once: the second waits
        if _holds_records(folder):
            if json.loads((folder / "records.json").read_text(encoding="utf-8"))["source"] == fingerprint:
                return Records(folder)
            shutil.rmtree(folder)  # the labels have changed since
        say(f"replaying {path} ({rows} rows, horizon {horizon}) to {folder}")
        lines, workers = lines_of(path, split, by_action, ply, games), os.cpu_count() or 1
        try:
            count = write_records(lines, folder, horizon, scored=scored, workers=workers, source=fingerprint)
        except UserError:
            shutil.rmtree(folder.with_name(folder.name + ".partial"), ignore_errors=True)
            raise
        except OSError as error:
            shutil.rmtree(folder.with_name(folder.name + ".partial"), ignore_errors=True)
            raise UserError(
                f"cannot write records to {folder} ({error.strerror}): free some space, or set data.cache to a folder"
            ) from None
    say(f"{count} records")
    return Records(folder)


def _holds_records(path: Path) -> bool:
    return (path / "records.json").exists()


def _fingerprint(path: Path) -> str:
    """A hash that changes when the files of a labelled set change."""
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in labelled_files(path)]
    return hashlib.sha256(json.dumps([str(path.resolve()), facts]).encode()).hexdigest()


def first_games(path: Path, split: str | None, games: int) -> Iterator[dict[str, Any]]:
    """The rows of the first so many games of a labelled set's split (0: of all); too few games are a UserError."""
    seen: set[tuple[str, int]] = set()
    for row in read_labelled(path, split):
        game = row["pool"], row["game"]
        if games and game not in seen and len(seen) == games:
            continue
        seen.add(game)
        yield row
    if len(seen) < games:
        raise UserError(f"{path} has {len(seen)} games to train on, not {games}: label more with `--limit-games`")


def lines_of(path: Path, split: str | None, by_action: bool, ply: int = 0, games: int = 0) -> Iterator[Line]:
    """The lines of a labelled set's split: the oracle's line of each row, or (by action) every scored move alone.

    Lines start at `ply`; lines that end before it are left out. `games` as in `first_games`.
    """
    for row in first_games(path, split, games):
        if by_action:
            for move, score in parse_actions(row["actions"] or "").items():
                yield Line(row["fen"], [move], [value_bin(score.win())])
        else:
            scored = action_wins(row["actions"], SCORED)
            line = Line(row["fen"], row["line"].split(), _values(row), row["states"] or (), scored)
            if not ply:
                yield line
            elif len(line.moves) > ply:
                yield _later(line, ply)


def _later(line: Line, ply: int) -> Line:
    """The rest of a line from one of its plies on."""
    fen = line.states[ply - 1] if len(line.states) >= ply else played(line, ply).fen()
    return Line(fen, line.moves[ply:], line.values[ply:], line.states[ply:])


def _values(row: dict[str, Any]) -> list[int | None]:
    """Value bins of the line's states: as searched, else the root's score carried down the principal variation."""
    if row["values"]:
        return [value_bin(score.win()) for score in parse_values(row["values"])]
    if row["cp"] is None and row["mate"] is None:
        return []
    score = Score(row["cp"], row["mate"])
    if row["future"] not in (None, "pv"):
        return [value_bin(score.win())]
    bins: list[int | None] = []
    for _ in row["line"].split():
        bins.append(value_bin(score.win()))
        score = score.after_best_move()
    return bins
