"""One form for every source of positions: a start position, moves, and the plies that may become records.

Human games, engine games, puzzles and labelled records all have this form. A source yields entries. `read` parses an
entry into a `SourceGame`, or raises the reason why it cannot be used.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import chess

from diffusearch.data import pgn
from diffusearch.data.filters import HeaderFilter, number, rating_of
from diffusearch.data.streams import DAMAGE, STDIN, bare_name, open_text, pool_name, read_table
from diffusearch.errors import UserError
from diffusearch.fen import position_of

PUZZLE_COLUMNS = ("PuzzleId", "FEN", "Moves", "Rating")
BOOK_PLIES = 16  # opening book plies of an engine game without the header BookPlies


class Dropped(Exception):
    """A game that the header filter drops; the message names the bound."""


@dataclass(frozen=True)
class SourceGame:
    """A game with the facts that its records need."""

    pool: str
    index: int  # of the game in its source, counted from 0 over all games
    key: str  # the split hashes it; a game has the same key in every file
    start: chess.Board
    moves: tuple[chess.Move, ...]
    plies: range  # indices into moves that may be chosen
    first_ply: int = 0  # half-moves played before the start
    rating: int | None = None
    played: str | None = None  # the move of the game at the start, if it is not moves[0]
    split: str | None = None  # if the source has one


class SourceEntry(Protocol):
    """One game of a source, not parsed yet."""

    @property
    def text(self) -> str:
        """The text of the source."""

    def read(self, wanted: HeaderFilter) -> SourceGame:
        """The game; raises Dropped or pgn.Broken."""


@dataclass(frozen=True)
class PgnEntry:
    pool: str
    index: int
    raw: pgn.RawGame
    own_plies: bool  # the moves of the game are its labels: leave out the book

    @property
    def text(self) -> str:
        return self.raw.text

    def read(self, wanted: HeaderFilter) -> SourceGame:
        headers = self.raw.headers()
        if reason := wanted.why_dropped(headers):
            raise Dropped(reason)
        line = pgn.main_line(self.raw)
        ratings = [r for r in (rating_of(headers.get("WhiteElo")), rating_of(headers.get("BlackElo"))) if r is not None]
        book = number(headers.get("BookPlies"))
        skipped = (BOOK_PLIES if book is None else book) if self.own_plies else 0
        return SourceGame(
            pool=self.pool,
            index=self.index,
            key=line.start.fen() + " " + " ".join(map(chess.Move.uci, line.moves)),
            start=line.start,
            moves=line.moves,
            plies=range(min(skipped, len(line.moves)), len(line.moves)),
            first_ply=line.start.ply(),
            rating=round(sum(ratings) / len(ratings)) if ratings else None,
        )


@dataclass(frozen=True)
class PuzzleEntry:
    """A row of the lichess puzzle table: Moves[0] is the opponent's, then the solver is to move."""

    pool: str
    index: int
    row: dict[str, str]

    @property
    def text(self) -> str:
        return json.dumps(self.row)

    def read(self, wanted: HeaderFilter) -> SourceGame:
        rating = rating_of(self.row.get("Rating"))
        if wanted.min_rating is not None and (rating is None or rating < wanted.min_rating):
            raise Dropped("rating")
        if wanted.max_rating is not None and (rating is None or rating > wanted.max_rating):
            raise Dropped("rating")
        start, moves = _replay(self.row["FEN"] or "", self.row["Moves"] or "")  # DictReader fills a short row with None
        if len(moves) < 2:
            raise pgn.Broken("no moves")
        return SourceGame(
            pool=self.pool,
            index=self.index,
            key=self.row["PuzzleId"],
            start=start,
            moves=moves,
            plies=range(1, len(moves), 2),  # the solver's
            first_ply=start.ply(),
            rating=rating,
        )


@dataclass(frozen=True)
class RecordEntry:
    """A labelled record, to label its position again, e.g. with more nodes."""

    row: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.row)

    def read(self, wanted: HeaderFilter) -> SourceGame:
        line = self.row["line"].split()[:1] if self.row["states"] else [self.row["line"]]  # unrelated states
        start, moves = _replay(self.row["fen"], " ".join(line))
        if not moves:
            raise pgn.Broken("no moves")
        return SourceGame(
            pool=self.row["pool"],
            index=self.row["game"],
            key=f"{self.row['pool']}:{self.row['game']}",
            start=start,
            moves=moves,
            plies=range(0, 1),
            first_ply=self.row["ply"],
            rating=self.row["rating"],
            played=self.row["played"],
            split=self.row["split"],
        )


def _replay(fen: str, line: str) -> tuple[chess.Board, tuple[chess.Move, ...]]:
    try:
        start = position_of(fen)
    except UserError as error:
        raise pgn.Broken("bad start position", str(error)) from error
    words = line.split()
    if len(words) > pgn.GAME_PLIES:
        raise pgn.Broken("game too long")
    board, moves = start.copy(), []
    for text in words:
        try:
            move = board.parse_uci(text)
        except chess.IllegalMoveError as error:
            raise pgn.Broken("illegal move", text) from error
        except chess.InvalidMoveError as error:
            raise pgn.Broken("unreadable move", text) from error
        moves.append(move)
        board.push(move)
    return start, tuple(moves)


def entries(path: str, own_plies: bool) -> Iterator[SourceEntry]:
    """All games of a source in order; raises pgn.Broken("damaged archive") where it cannot be unpacked."""
    if is_labelled(path):
        from diffusearch.data.labelled import read_labelled

        yield from (RecordEntry(row) for row in read_labelled(path))
        return
    pool = pool_name(path)
    with open_text(path) as lines:
        try:
            if is_puzzles(path):
                rows = read_table(lines, path, PUZZLE_COLUMNS)
                yield from (PuzzleEntry(pool, index, row) for index, (_, row) in enumerate(rows))
            else:
                yield from (PgnEntry(pool, index, raw, own_plies) for index, raw in enumerate(pgn.split(lines)))
        except (*DAMAGE, csv.Error) as error:
            raise pgn.Broken("damaged archive") from error


def is_puzzles(path: str) -> bool:
    return bare_name(path).lower().endswith(".csv")


def is_labelled(path: str) -> bool:
    """A Parquet file, or a folder of them."""
    return path != STDIN and (path.endswith(".parquet") or Path(path).is_dir())
