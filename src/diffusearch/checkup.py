"""What a working installation has, one check each: Python, back ends, Stockfish, the weights, the page.

A check never raises: what it finds wrong becomes a sentence that says what to do.
"""

from __future__ import annotations

import math
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

import chess

from diffusearch.errors import UserError
from diffusearch.weights import NAMES, VERSION, packaged

if TYPE_CHECKING:
    from diffusearch.inference.run import Run

OLDEST_PYTHON = (3, 11)
ENGINE_SECONDS = 10.0  # to say its name
_EVALUATIONS = 11  # that are timed; the first ones are slow


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
    yield onnxruntime()
    yield torch()
    yield stockfish()
    yield from map(weights, NAMES)
    yield page()


def python() -> Finding:
    version = platform.python_version()
    good = sys.version_info >= OLDEST_PYTHON
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding("Python", good, version, "" if good else f"install Python {oldest} or newer")


def onnxruntime() -> Finding:
    """That onnxruntime is there: it computes the packaged networks."""
    try:
        import onnxruntime as engine
    except (ImportError, OSError) as error:  # OSError: a shared library that does not load
        return Finding("onnxruntime", False, f"does not load ({error})", _install_anew("onnxruntime"))
    from diffusearch.inference.threads import threads

    return Finding("onnxruntime", True, f"{engine.__version__} (CPU, {threads()} threads)")


def torch() -> Finding:
    """That torch is there and computes; and on what. Training needs it, and runs without graphs."""
    if find_spec("torch") is None:
        remedy = "for training and evaluation: pip install 'diffusearch[train]' (README.md has the build without CUDA)"
        return Finding("torch", False, "not installed", remedy, needed=False)
    try:
        import torch as engine
    except (ImportError, OSError) as error:
        return Finding("torch", False, f"does not load ({error})", _install_anew("torch"), needed=False)
    where = "CUDA" if engine.cuda.is_available() else f"CPU, {engine.get_num_threads()} threads"
    good = bool((engine.ones(2, 2) @ engine.ones(2, 2)).sum() == 8)
    remedy = "" if good else "it multiplies wrongly: install it anew"
    return Finding("torch", good, f"{engine.__version__} ({where})", remedy, needed=False)


def _install_anew(name: str) -> str:
    """The command that installs a requirement of the package anew, in a version that it allows."""
    wanted = (text.partition(";")[0].strip() for text in metadata.requires("diffusearch") or ())
    found = next((text for text in wanted if re.split(r"[^\w-]", text)[0] == name), name)
    return f'pip install --force-reinstall "{found}"'


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
    """That a packaged run is there, that its files open and fit together, who computes it, and how fast."""
    what = f"weights {name}"
    needed = name == "diffusearch"  # the others are rivals to compare with
    try:
        from diffusearch.graphs.weights_file import tensor_places
        from diffusearch.inference.onnx_backend import OnnxBackend
        from diffusearch.inference.run import Run

        run = Run.load(folder := packaged(name))
        if isinstance(run.backend, OnnxBackend):
            for backend in (run.backend, run.backend.quantised()):
                backend.open_all()
        milliseconds = _evaluation_time(run)
        size = sum(math.prod(place.shape) for place in tensor_places(folder / "weights.safetensors").values())
    except UserError as error:
        return Finding(what, False, str(error), "install diffusearch anew, or train: diffusearch train", needed)
    except ImportError as error:  # its own check says more
        return Finding(what, False, f"cannot be opened ({error})", "see onnxruntime above", needed)
    shape = f"{VERSION}: {run.paradigm}, horizon {run.horizon}, {size / 1e6:.1f}M parameters"
    return Finding(what, True, f"{shape}; {run.backend.name}, {milliseconds:.1f} ms an evaluation", needed=needed)


def _evaluation_time(run: Run) -> float:
    """Milliseconds of one position alone, the median of several."""
    boards, times = [chess.Board()], []
    for _ in range(_EVALUATIONS):
        began = time.perf_counter()
        run.evaluate(boards, priors=run.has_policy)
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def page() -> Finding:
    from diffusearch.play.server import assets

    try:
        folder = assets()
    except UserError:
        return Finding("page", False, "not built", "run `make play`, or `npm ci && npm run build` in web/")
    return Finding("page", True, str(folder))
