"""Is a labelled set sound? Every line legal, every score in range, every hash right, no game on two sides."""

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
from diffusearch.data.streams import sha256

LARGEST_CP = 32_000  # Stockfish's scores stay below
LONGEST_MATE = 1_000  # moves


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def check(path: str | Path, progress: Callable[[int], None]) -> Iterator[Problem]:
    """All problems of a set, file by file; `progress` is told of rows done."""
    yield from _check_files(Path(path))
    seen = PositionSet()
    splits: dict[tuple[str, int], str] = {}
    for file in labelled_files(path):
        for number, row in enumerate(read_labelled(file, failed=True)):
            place = f"{file.name} row {number}"
            for what in _check_row(row):
                yield Problem(place, what)
            if not seen.add(position_key(row["fen"])):
                yield Problem(place, f"the position {row['fen']} stands there twice")
            if splits.setdefault((row["pool"], row["game"]), row["split"]) != row["split"]:
                yield Problem(place, f"game {row['game']} of {row['pool']} is on two sides of the split")
            progress(1)


def _check_files(path: Path) -> Iterator[Problem]:
    """The folder against its manifest; a lone Parquet file has none."""
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
            yield Problem(name, "its bytes are not those of the manifest's hash")


def _check_row(row: Row) -> Iterator[str]:
    try:
        root = chess.Board(row["fen"])
    except ValueError as error:
        yield f"bad FEN {row['fen']!r} ({error})"
        return
    if not root.is_valid() or over(root):
        yield f"nothing to decide in {row['fen']!r}"
        return
    if row["split"] not in SPLITS:
        yield f"unknown split {row['split']!r}"
    if row["failed"] is not None:
        return
    if not row["line"]:
        yield "no line and no reason for it"
        return
    try:
        yield from _check_line(root, row)
        yield from _check_scores(root, row)
    except ValueError as error:
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


def _check_scores(root: chess.Board, row: Row) -> Iterator[str]:
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
    if row["actions"] is not None:
        actions = parse_actions(row["actions"])
        if set(actions) != {move.uci() for move in root.legal_moves}:
            yield "the actions are not the legal moves"
        if next(iter(actions)) != row["line"].split()[0]:
            yield "the first action is not the line's first move"
        scores += actions.values()
    for score in scores:
        if abs(score.cp or 0) > LARGEST_CP or score.mate == 0 or abs(score.mate or 0) > LONGEST_MATE:
            yield f"the score {score} is out of range"
