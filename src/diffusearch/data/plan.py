"""Divides the games of all sources into shards of positions, in the same way on every run.

A shard ends with the end of a game. So it covers a range of games, and it counts the games of this range that were
dropped or broken and the positions that were seen before. To continue a run, the program skips the games of the
finished shards without parsing their moves.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.pgn import Broken
from diffusearch.data.root_positions import PositionSet, RootPosition, choose, position_key, split_of
from diffusearch.data.source_games import Dropped, SourceEntry, entries
from diffusearch.errors import UserError

# Names of counts; broken and dropped games have "broken: reason" and "dropped: bound".
GAMES, KEPT, DUPLICATES, POSITIONS = "games", "kept", "duplicate positions", "positions"


@dataclass(frozen=True)
class Choice:
    """Options that choose games and positions."""

    wanted: HeaderFilter = field(default_factory=HeaderFilter)
    per_game: int | None = None  # None = all plies (the paper)
    skip_plies: int = 0  # leave out positions before this ply
    limit_games: int | None = None  # stop after so many kept games
    horizon: int = 4
    own_plies: bool = False  # the moves of the game are its labels: leave out the book
    seed: int = 0
    shard: int = 2048  # positions of a shard, at least
    split: str | None = None  # only games of this split: train, validation or test


@dataclass(frozen=True)
class ShardInfo:
    """The games that a shard covers, and their counts."""

    index: int
    entries_end: int  # games of all sources up to the end of the shard
    digest: str  # hash of the text of all these games
    counts: Counter[str]

    @property
    def file(self) -> str:
        return f"shard-{self.index:06d}.parquet"


@dataclass(frozen=True)
class ShardTask:
    """The positions of a shard to label. A worker gets this object."""

    info: ShardInfo
    positions: tuple[RootPosition, ...]


def plan(sources: Sequence[str], choice: Choice, done: Sequence[ShardInfo], seen: PositionSet) -> Iterator[ShardTask]:
    """All shards after the `done` ones. `seen` must contain the positions of the done shards."""
    stream = _stream(sources, choice.own_plies)
    hasher = hashlib.blake2b(digest_size=16)
    kept = sum(info.counts[KEPT] for info in done)
    number = _skip(stream, done[-1], hasher) if done else 0
    index = len(done)
    positions: list[RootPosition] = []
    counts: Counter[str] = Counter()
    for entry in stream:
        if choice.limit_games is not None and kept >= choice.limit_games:
            break
        number += 1
        kept += _take(entry, choice, seen, positions, counts, hasher)
        if len(positions) >= choice.shard:
            yield ShardTask(ShardInfo(index, number, hasher.hexdigest(), counts), tuple(positions))
            index, positions, counts = index + 1, [], Counter()
    if counts:
        yield ShardTask(ShardInfo(index, number, hasher.hexdigest(), counts), tuple(positions))


def _stream(sources: Iterable[str], own_plies: bool) -> Iterator[SourceEntry | Broken]:
    """Entries of all sources; a damaged source ends with a Broken, and the next source follows."""
    for path in sources:
        try:
            yield from entries(path, own_plies)
        except Broken as broken:
            yield broken


def _skip(stream: Iterator[SourceEntry | Broken], last: ShardInfo, hasher: hashlib.blake2b) -> int:
    """Skip the games of the finished shards and check that their text has not changed."""
    number = 0
    while number < last.entries_end and (entry := next(stream, None)) is not None:
        number += 1
        if not isinstance(entry, Broken):
            hasher.update(entry.text.encode())
    if number < last.entries_end or hasher.hexdigest() != last.digest:
        raise UserError("the games differ from those of the finished shards; give the same games or another --out")
    return number


def _take(
    entry: SourceEntry | Broken,
    choice: Choice,
    seen: PositionSet,
    positions: list[RootPosition],
    counts: Counter[str],
    hasher: hashlib.blake2b,
) -> int:
    """Add the new positions of an entry; returns 1 if the game was kept, else 0."""
    if isinstance(entry, Broken):
        counts[f"broken: {entry}"] += 1
        return 0
    hasher.update(entry.text.encode())
    counts[GAMES] += 1
    try:
        game = entry.read(choice.wanted)
    except Broken as broken:
        counts[f"broken: {broken}"] += 1
        return 0
    except Dropped as dropped:
        counts[f"dropped: {dropped}"] += 1
        return 0
    if choice.split is not None and (game.split or split_of(game.key)) != choice.split:
        counts["dropped: split"] += 1
        return 0
    counts[KEPT] += 1
    for position in choose(game, choice.per_game, choice.skip_plies, choice.horizon, choice.seed):
        if seen.add(position_key(position.fen)):
            positions.append(position)
            counts[POSITIONS] += 1
        else:
            counts[DUPLICATES] += 1
    return 1
