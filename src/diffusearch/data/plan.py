"""The plan: the stream of games cut into shards of positions, the same on every run.

A shard ends with a game, so it covers a stretch of the source: what was dropped, broken or seen before within the
stretch is counted with it. To continue a run, the stretch of the finished shards is skipped without parsing a move.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.games import Dropped, SourceEntry, entries
from diffusearch.data.pgn import Broken
from diffusearch.data.root_positions import PositionSet, RootPosition, choose, position_key
from diffusearch.errors import UserError

# Names of counts; broken and dropped games have "broken: reason" and "dropped: bound".
GAMES, KEPT, DUPLICATES, POSITIONS = "games", "kept", "duplicate positions", "positions"


@dataclass(frozen=True)
class Choice:
    """Which positions of which games."""

    wanted: HeaderFilter = field(default_factory=HeaderFilter)
    per_game: int | None = None  # None = all plies (the paper)
    skip_plies: int = 0  # no position before this ply
    limit_games: int | None = None  # stop after so many games that are kept
    horizon: int = 4
    own_plies: bool = False  # the game's moves are its labels: leave out the book
    seed: int = 0
    shard: int = 2048  # positions a shard, at least


@dataclass(frozen=True)
class ShardInfo:
    """What a shard covers."""

    index: int
    entries_end: int  # games of all sources together that are read when the shard is full
    digest: str  # of the text of all these games
    counts: Counter[str]

    @property
    def file(self) -> str:
        return f"shard-{self.index:06d}.parquet"


@dataclass(frozen=True)
class ShardTask:
    """Positions to label, and what the shard will say about itself."""

    info: ShardInfo
    positions: tuple[RootPosition, ...]


def plan(sources: Sequence[str], choice: Choice, done: Sequence[ShardInfo], seen: PositionSet) -> Iterator[ShardTask]:
    """All shards after the first `len(done)` ones, whose positions `seen` holds already."""
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
    """Entries of all sources; a source whose bytes give out ends with a Broken, and the next one follows."""
    for path in sources:
        try:
            yield from entries(path, own_plies)
        except Broken as broken:
            yield broken


def _skip(stream: Iterator[SourceEntry | Broken], last: ShardInfo, hasher: hashlib.blake2b) -> int:
    """Pass over what the finished shards cover, and see that it is still the same text."""
    number = 0
    while number < last.entries_end and (entry := next(stream, None)) is not None:
        number += 1
        if not isinstance(entry, Broken):
            hasher.update(entry.text.encode())
    if number < last.entries_end or hasher.hexdigest() != last.digest:
        raise UserError(
            "the games differ from those the finished shards were made of; give the same games or another --out"
        )
    return number


def _take(
    entry: SourceEntry | Broken,
    choice: Choice,
    seen: PositionSet,
    positions: list[RootPosition],
    counts: Counter[str],
    hasher: hashlib.blake2b,
) -> int:
    """Add an entry's new positions; 1 if the game was kept."""
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
    counts[KEPT] += 1
    for position in choose(game, choice.per_game, choice.skip_plies, choice.horizon, choice.seed):
        if seen.add(position_key(position.fen)):
            positions.append(position)
            counts[POSITIONS] += 1
        else:
            counts[DUPLICATES] += 1
    return 1
