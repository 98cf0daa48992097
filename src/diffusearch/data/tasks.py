"""What is handed to a worker: the positions of one shard. Kept apart from Parquet, so that a worker starts quickly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from diffusearch.data.positions import Position


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
    positions: tuple[Position, ...]
