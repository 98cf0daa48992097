"""What a working installation has, one check each: Python, torch, Stockfish, the weights, the page.

A check never raises: what it finds wrong becomes a sentence that says what to do.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from diffusearch.errors import UserError
from diffusearch.weights import NAMES, VERSION, packaged

OLDEST_PYTHON = (3, 11)
ENGINE_SECONDS = 10.0  # to say its name


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    what: str
    good: bool
    found: str  # a version, a folder, or what is wrong
    remedy: str = ""  # the next step; empty if all is well
    needed: bool = True  # whether playing with the model is impossible without it


def checkup() -> Iterator[Finding]:
    """All findings, one after another as they are made."""
    yield python()
    yield torch()
    yield stockfish()
    yield from map(weights, NAMES)
    yield page()


def python() -> Finding:
    version = platform.python_version()
    good = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding("Python", good, version, "" if good else f"install Python {oldest} or newer")


def torch() -> Finding:
    """That torch is there and computes; and on what."""
    try:
        import torch as engine
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        return Finding("torch", False, f"does not load ({error})", "pip install -c constraints.txt torch")
    where = "CUDA" if engine.cuda.is_available() else f"CPU, {engine.get_num_threads()} threads"
    good = bool((engine.ones(2, 2) @ engine.ones(2, 2)).sum() == 8)
    remedy = "" if good else "it multiplies wrongly: install it anew"
    return Finding("torch", good, f"{engine.__version__} ({where})", remedy)


def stockfish() -> Finding:
    """That Stockfish is on PATH and says its name. Only labels, tournaments and comparisons need it."""
    from diffusearch.data.uci_process import find_engine

    remedy = "install it with your system's packages (Debian: sudo apt-get install stockfish)"
    try:
        path = find_engine(None)
        said = subprocess.run([path], input="uci\nquit\n", capture_output=True, text=True, timeout=ENGINE_SECONDS)
    except UserError:
        return Finding("Stockfish", False, "not found", remedy, needed=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        return Finding("Stockfish", False, f"does not answer ({error})", remedy, needed=False)
    names = [line.removeprefix("id name ") for line in said.stdout.splitlines() if line.startswith("id name ")]
    if not names:
        return Finding("Stockfish", False, f"{path} speaks no UCI", remedy, needed=False)
    return Finding("Stockfish", True, f"{names[0]} at {path}", needed=False)


def weights(name: str) -> Finding:
    """That a packaged run is there, and that its files open and fit together."""
    what = f"weights {name}"
    needed = name == "diffusearch"  # the others are rivals to compare with
    try:
        from diffusearch.inference.run import Run

        run = Run.load(packaged(name))
    except UserError as error:
        return Finding(what, False, str(error), "install a release, or train: diffusearch train", needed)
    except ImportError as error:  # torch is missing; its own check says more
        return Finding(what, False, f"cannot be opened ({error})", "see torch above", needed)
    size = sum(parameter.numel() for parameter in run.net.parameters())
    return Finding(
        what, True, f"{VERSION}: {run.paradigm}, horizon {run.horizon}, {size / 1e6:.1f}M parameters", needed=needed
    )


def page() -> Finding:
    from diffusearch.play.server import assets

    try:
        folder = assets()
    except UserError:
        return Finding("page", False, "not built", "run `make play`, or `npm ci && npm run build` in web/")
    return Finding("page", True, str(folder))
