"""The manifest of a labelled folder: its sources, options, engine, counts and shards.

It is written when the run starts, so that a later run can compare its options, and again when the run is complete.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diffusearch.data.plan import ShardInfo
from diffusearch.data.shards import FORMAT
from diffusearch.data.streams import STDIN, pool_name
from diffusearch.errors import UserError
from diffusearch.files import sha256, write_whole

FILE = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What decides the labels, and (when complete) the counts and shards."""

    sources: list[dict[str, Any]]  # name, bytes, sha256 of each
    options: dict[str, Any]
    engine: dict[str, Any] | None  # name with version, and UCI options; None where nothing was searched
    format: int = FORMAT
    complete: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    shards: list[dict[str, Any]] = field(default_factory=list)  # file, rows, sha256

    def write(self, folder: Path) -> None:
        write_whole(folder / FILE, (json.dumps(asdict(self), indent=2, sort_keys=True) + "\n").encode())

    def must_match(self, earlier: Manifest, folder: Path) -> None:
        """Refuse to continue a run that had other sources, options or another engine."""
        if earlier.format != self.format:
            raise UserError(
                f"{folder} has format {earlier.format}, this program writes {self.format}; use another --out"
            )
        for name in ("sources", "engine", "options"):
            mine, theirs = getattr(self, name), getattr(earlier, name)
            if mine != theirs:
                if isinstance(mine, dict) and isinstance(theirs, dict):
                    keys = sorted(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key))
                    what = ", ".join(f"{key} {theirs.get(key)!r} (now {mine.get(key)!r})" for key in keys)
                else:
                    what = f"{theirs!r} (now {mine!r})"
                raise UserError(f"{folder} was begun with other {name}: {what}; give the same again or another --out")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None if it has none."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return Manifest(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise UserError(
            f"{path} is not a manifest of this program ({error}); restore it or use another --out"
        ) from error


def describe_sources(paths: list[str]) -> list[dict[str, Any]]:
    """Name, size and hash of each source; standard input has a name only."""
    described: list[dict[str, Any]] = []
    for text in paths:
        path = Path(text)
        if text == STDIN:
            described.append({"name": pool_name(text), "bytes": None, "sha256": None})
        elif path.is_dir():
            described.extend(describe_sources([str(file) for file in sorted(path.glob("*.parquet"))]))
        elif path.is_file():
            described.append({"name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)})
        else:
            raise UserError(f"no games at {text}; give PGN, puzzle CSV or Parquet files, or - for standard input")
    names = Counter(pool_name(source["name"]) for source in described)
    doubled = [name for name, count in names.items() if count > 1]
    if doubled:
        raise UserError(f"two sources are named {doubled[0]}; rename one, since records name their source")
    return described


def describe_shard(folder: Path, info: ShardInfo) -> dict[str, Any]:
    path = folder / info.file
    return {"file": info.file, "rows": info.counts["positions"], "sha256": sha256(path)}
