"""Checks of a labelled set: lines are legal, scores are in range, hashes match, no game is in two splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import chess

from diffusearch.data.labelled import labelled_files, read_labelled
from diffusearch.data.labelling import Row
from diffusearch.data.manifest import read_manifest
from diffusearch.data.root_positions import SPLITS, PositionSet, over, position_key
from diffusearch.data.scores import Score, parse_actions, parse_values
from diffusearch.errors import UserError
from diffusearch.files import sha256

LARGEST_CP = 32_000  # scores of Stockfish stay below
LONGEST_MATE = 1_000  # moves


@dataclass(frozen=True)
class Problem:
    """What is wrong, and in which file and row."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def check(path: str | Path, progress: Callable[[int], None]) -> Iterator[Problem]:
    """All problems of a set, file by file; `progress` gets the number of rows that are done."""
    yield from _check_files(Path(path))
    promised = _scored_actions(Path(path))
    seen = PositionSet()
    splits: dict[tuple[str, int], str] = {}
    for file in labelled_files(path):
        for number, row in enumerate(read_labelled(file, failed=True)):
            place = f"{file.name} row {number}"
            for what in _check_row(row, promised):
                yield Problem(place, what)
            if not seen.add(position_key(row["fen"])):
                yield Problem(place, f"the position {row['fen']} occurs twice")
            if splits.setdefault((row["pool"], row["game"]), row["split"]) != row["split"]:
                yield Problem(place, f"game {row['game']} of {row['pool']} is in two splits")
            progress(1)


def _check_files(path: Path) -> Iterator[Problem]:
    """The files of a folder against its manifest; a single Parquet file has none."""
    if not path.is_dir():
        return
    manifest = read_manifest(path)
    if manifest is None:
        return
    if not manifest.complete:
        yield Problem(str(path), "the labelling is not complete; run its command again")
        return
    told = {shard["file"]: shard["sha256"] for shard in manifest.shards}
    there = {file.name for file in labelled_files(path)}
    for name in sorted(told.keys() - there):
        yield Problem(name, "is in the manifest but not in the folder")
    for name in sorted(there - told.keys()):
        yield Problem(name, "is in the folder but not in the manifest")
    for name in sorted(there & told.keys()):
        if sha256(path / name) != told[name]:
            yield Problem(name, "its SHA-256 is not that of the manifest")


def _scored_actions(path: Path) -> int | None:
    """How many actions the labelling was to score in each row: 0 for all of them, None where nothing tells."""
    manifest = read_manifest(path) if path.is_dir() else None
    if manifest is None or manifest.engine is None:
        return None
    if manifest.options.get("actions"):
        return 0
    multipv = manifest.options.get("multipv", 1)
    return multipv if multipv > 1 else None


def _check_row(row: Row, promised: int | None) -> Iterator[str]:
    try:
        root = chess.Board(row["fen"])
    except ValueError as error:
        yield f"bad FEN {row['fen']!r} ({error})"
        return
    if not root.is_valid() or over(root):
        yield f"the game is over or the position is invalid in {row['fen']!r}"
        return
    if row["split"] not in SPLITS:
        yield f"unknown split {row['split']!r}"
    if row["failed"] is not None:
        return
    if not row["line"]:
        yield "the row has no line and no reason in `failed`"
        return
    try:
        yield from _check_line(root, row)
        yield from _check_scores(row)
        yield from _check_actions(root, row, promised)
    except (ValueError, UserError) as error:
        yield f"unreadable: {error}"


def _check_line(root: chess.Board, row: Row) -> Iterator[str]:
    states = row["states"] or []
    board = root.copy(stack=False)
    for number, text in enumerate(row["line"].split()):
        if number and states:  # unrelated states: each move is legal in its own
            board = chess.Board(states[number - 1])
        try:
            board.push(board.parse_uci(text))
        except ValueError:
            yield f"move {number + 1} of the line {row['line']!r} is not legal from {row['fen']!r}"
            return
    if not states and over(board) != row["ended"]:
        yield f"`ended` is {row['ended']} but the line {row['line']!r} says otherwise"


def _check_scores(row: Row) -> Iterator[str]:
    if row["cp"] is not None and row["mate"] is not None:
        yield "both cp and mate are given"
        return
    scores = []
    if row["cp"] is not None or row["mate"] is not None:
        scores.append(Score(row["cp"], row["mate"]))
    if row["values"] is not None:
        values = parse_values(row["values"])
        if len(values) > len(row["line"].split()):
            yield "more values than states in the line"
        if values[:1] != scores[:1]:
            yield f"the first value {values[0]} is not the root's score"
        scores += values
    yield from _check_range(scores)


def _check_actions(root: chess.Board, row: Row, promised: int | None) -> Iterator[str]:
    """The scored moves of the root. `cp` may differ from the first score: it may be a bound, see docs/data.md."""
    if row["actions"] is None:
        if promised is not None:
            yield "no action is scored"
        return
    actions = parse_actions(row["actions"])
    legal = {move.uci() for move in root.legal_moves}
    if unknown := sorted(actions.keys() - legal):
        yield f"the scored action {unknown[0]!r} is not legal"
    elif promised == 0 and actions.keys() != legal:
        yield f"{len(actions)} of {len(legal)} legal actions are scored"
    elif promised and len(actions) > promised:
        yield f"{len(actions)} actions are scored, not at most {promised}"
    if len(actions) != len(row["actions"].split()):
        yield "an action is scored twice"
    if next(iter(actions), None) != row["line"].split()[0]:
        yield "the first scored action is not the line's first move"
    yield from _check_range(list(actions.values()))


def _check_range(scores: list[Score]) -> Iterator[str]:
    for score in scores:
        if abs(score.cp or 0) > LARGEST_CP or score.mate == 0 or abs(score.mate or 0) > LONGEST_MATE:
            yield f"the score {score} is out of range"
