"""The JSON result of a measurement: command, agent, data, code version, and figures."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.files import write_whole


def data_hash(files: list[Path]) -> str:
    """sha256 over the files' bytes in the given order; for a single file it is what `sha256sum` prints."""
    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                found.update(chunk)
    return found.hexdigest()


def digest(value: Any, length: int | None = None) -> str:
    """sha256 of a plain value, or its first `length` digits. What is written down with it is compared later."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def commit() -> str | None:
    """The commit of the code that runs (with '+' if tracked files differ), None outside a checkout."""
    here = Path(__file__).resolve().parent
    # Git refuses a checkout of another user; whose code runs is trusted already.
    git = ["git", "-c", "safe.directory=*", "-C", str(here)]
    try:
        answer = subprocess.run(
            [*git, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # no git here: the field says so by being null
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def package_version() -> str | None:
    """The version of the package; None where the code runs without being installed."""
    try:
        return version("diffusearch")
    except PackageNotFoundError:
        return None


def check_place(out: Path) -> None:
    """Refuse, before anything is measured, a place that no result can be written to."""
    folder = out.parent if out.suffix == ".json" else out
    if out.suffix == ".json" and out.is_dir():
        raise UserError(f"The result cannot be written to {out} because it is a folder: give another --out.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Results cannot be written to {folder} ({error.strerror}): give another --out.") from error
    if not os.access(folder, os.W_OK):
        raise UserError(f"Results cannot be written to {folder} (no permission): give another --out.")


def command_line() -> str:
    """The command as it could be typed again."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def provenance(
    kind: str,
    *,
    recipes: dict[str, Any],
    files: list[Path],
    seed: int | None,
    skip: int = 0,
    split: str | None = None,
) -> dict[str, Any]:
    """The fields that stand on top of each result; `recipes` maps each agent's text to its recipe or None."""
    agents = list(recipes)
    return {
        "kind": kind,
        "command": command_line(),
        "agent": agents[0] if len(agents) == 1 else agents,
        "recipe": recipes[agents[0]] if len(agents) == 1 else recipes,
        "data": [path.name for path in files],
        "data_hash": data_hash(files) if files else None,
        "commit": commit(),
        "version": package_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "skip": skip,
        "split": split,
    }


# Options that choose the rows of a result: the default value, the part of the file name, the words.
_APART = {
    "split": (None, "-{}", "split {}"),
    "skip": (0, "-skip{}", "behind row {}"),
    "seed": (None, "-seed{}", "drawn by seed {}"),
}


def _apart(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Marks for the file's name and words for people; none where the rows are the first (a tournament has none)."""
    if result["kind"] == "tournament":
        return []
    return [
        (mark.format(result[name]), words.format(result[name]))
        for name, (usual, mark, words) in _APART.items()
        if result.get(name, usual) != usual
    ]


def rows_of(result: dict[str, Any]) -> str:
    """Which rows of its data a result is of, in words; nothing where they are the first."""
    return ", ".join(words for _, words in _apart(result))


def weights_of(recipe: Any) -> str:
    """Which weights are behind an agent's recipe, in words: their version, else the beginning of their sha256.

    An agent's text alone does not say it: the packaged weights change from version to version.
    """
    found = [recipe.get("weights_version") or recipe["weights"][:8] for recipe in _runs(recipe)]
    return "weights " + " + ".join(dict.fromkeys(found)) if found else ""


def _runs(recipe: Any) -> Iterator[dict[str, Any]]:
    """The recipes of trained runs; an agent with several networks has one under each of their names."""
    if isinstance(recipe, dict) and isinstance(recipe.get("weights"), str):
        yield recipe
    elif isinstance(recipe, dict):
        for value in recipe.values():
            yield from _runs(value)


def apart_from(result: dict[str, Any]) -> str:
    """What tells a result from others of its agent: weights and rows, in words."""
    return ", ".join(filter(None, (weights_of(result["recipe"]), rows_of(result))))


def slug(text: str) -> str:
    """A file name out of an agent's text."""
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", text).strip("_")[:80] or "agent"


def save(result: dict[str, Any], out: Path) -> Path:
    """Write a result: to `out` itself if it ends in .json, else into that folder under a telling name."""
    if out.suffix == ".json":
        path = out
    else:
        agent = result["agent"] if isinstance(result["agent"], str) else "+".join(result["agent"])
        data = (result["data_hash"] or "nodata")[:8]
        rows = "".join(mark for mark, _ in _apart(result))  # other rows, another file
        path = out / f"{result['kind']}-{slug(agent)}-{data}-n{result['n']}{rows}.json"
    if path.is_dir():
        raise UserError(f"The result cannot be written to {path} because it is a folder: give another --out.")
    write_whole(path, json.dumps(result, indent=2) + "\n")
    return path
