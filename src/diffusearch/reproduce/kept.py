"""Results as `reproduce all` keeps them: figures, outcomes and where they come from; no test data and no paths.

All results of a run are of one network. A run that is trained again, on another machine or by later code, is another
network: results of the earlier one do not count any more (`networks`).

A result is one JSON file below Setting.results. The folder is small and belongs into a repository: with it the command
goes on elsewhere, and nothing that was measured is measured again. `outcomes` has a character for each test row, 1
where the agent was right, so that rows can be compared pairwise later.
"""

from __future__ import annotations

import json
import shlex
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.evaluation.record import command_line, provenance
from diffusearch.evaluation.row_log import PositionRow
from diffusearch.files import write_whole

Kept = dict[str, Any]
METRICS = ("actions", "puzzles", "futures", "tree-depth")  # of one row; times, games, pictures have their own files


def read_kept(path: Path) -> Kept | None:
    """A result, if the file exists."""
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else None


@cache
def _read(path: Path, changed: int) -> Kept:
    try:
        found: Kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is no JSON ({error}): restore or delete it.") from error
    if not isinstance(found, dict) or "digest" not in found:
        raise UserError(f"{path} is no result of `reproduce all`: restore or delete it.")
    return found


def networks(folder: Path) -> dict[tuple[str, str], str]:
    """The digest of the weights of each run, by its name and the digest of its recipe, as its newest result has it."""
    files = sorted(path for metric in METRICS for path in folder.glob(f"{metric}-*.json"))
    return _networks(tuple((path, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=2)
def _networks(files: tuple[tuple[Path, int], ...]) -> dict[tuple[str, str], str]:
    results = sorted((_read(path, changed) for path, changed in files), key=lambda result: str(result["date"]))
    runs = [(name, run) for result in results for name, run in result["runs"].items()]
    return {(name, run["recipe"]): run["weights"] for name, run in runs if "weights" in run}


def write_kept(path: Path, kind: str, figures: dict[str, Any], files: list[Path], about: dict[str, Any]) -> None:
    """Write a result; `about` has its agent, digest, runs and the rest that is not a figure."""
    known = provenance(kind, recipes={"": None}, files=files, seed=None)
    for name in ("recipe", "seed", "skip", "split"):
        del known[name]  # `runs` and `wanted` tell
    write_whole(path, json.dumps({**known, "command": plain_command(), **about, **figures}, indent=1) + "\n")


def plain_command() -> str:
    """The command with the names of files and folders, without the paths of this machine."""
    _, *words = shlex.split(command_line())
    return shlex.join(["diffusearch", *(Path(word).name if word.startswith("/") else word for word in words)])


def as_text(rows: list[PositionRow]) -> str:
    """Outcomes as a character each."""
    return "".join("1" if row.right else "0" for row in rows)
