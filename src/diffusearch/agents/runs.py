"""From an agent's text to a trained run: a folder given by the user, or the weights inside the package.

Each process loads a run once for a back end, and all its agents share it.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from diffusearch.errors import UserError
from diffusearch.tokens.layout import JUDGES

if TYPE_CHECKING:
    from diffusearch.inference.run import Run


def run(text: str | None, packaged_name: str, word: str | None = None, backend: str = "auto") -> Run:
    """The run that a text names, a folder or weights inside the package (None: these).

    It must be fit for agents of the `word`, if one is given. A folder goes before the package's weights of its name.
    """
    from diffusearch.weights import NAMES, packaged

    inside = text is None or (text in NAMES and not Path(text).exists())
    path = packaged(text or packaged_name) if inside else Path(text or "").expanduser()
    loaded = _load(path.resolve(), backend, _stamp(path))
    if word is not None and not _fits(loaded, word):
        raise UserError(
            f"run '{text or packaged_name}' ({loaded.recipe.process.kind}, {loaded.paradigm}) cannot play as {word}; "
            "name another run or another agent"
        )
    return loaded


def _fits(loaded: Run, word: str) -> bool:
    """What each kind of agent can use. A run that predicts a first move has priors, whatever it imagines after it."""
    if word == "s-v":
        return loaded.has_value
    if word == "sa-v":
        return loaded.paradigm == "sa-v"
    if loaded.paradigm in JUDGES:
        return False
    return word not in ("direct", "autoregressive") or loaded.recipe.process.kind == word


def _stamp(path: Path) -> int:
    """Changes when the weights are written anew, so that a longer-trained run is loaded again."""
    weights = path / "weights.safetensors"
    return weights.stat().st_mtime_ns if weights.is_file() else 0


@functools.lru_cache(maxsize=8)
def _load(path: Path, backend: str, stamp: int) -> Run:
    from diffusearch.inference.run import Run

    return Run.load(path, backend)
