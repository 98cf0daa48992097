from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

FAKE = Path(__file__).with_name("fake_engine.py")
FIXTURES = Path(__file__).parents[1] / "fixtures"

MakeEngine = Callable[..., str]


@pytest.fixture
def games_pgn() -> Path:
    """300 games that an engine played against itself (`diffusearch data selfplay`)."""
    return FIXTURES / "games.pgn"


@pytest.fixture
def labelled() -> Path:
    """These games, labelled by `diffusearch label`."""
    return FIXTURES / "labelled"


@pytest.fixture
def make_engine(tmp_path: Path, program: Callable[..., str]) -> MakeEngine:
    """Path of an executable engine that behaves by mode, see fake_engine.py."""

    def make(mode: str = "good", state: Path | None = None) -> str:
        return program(tmp_path / f"engine-{mode}", FAKE, mode, *([state] if state else []))

    return make


@pytest.fixture
def stockfish() -> str:
    found = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if found is None:
        pytest.skip("Stockfish is not installed")
    return found


@pytest.fixture
def linear_work() -> Iterator[None]:
    """Fails a test that runs for a minute. Its input is so long that quadratic work takes hours.

    Windows has no alarm: there the time limit of every test ends it.
    """
    if sys.platform == "win32":
        yield
        return

    def stop(_: int, __: FrameType | None) -> None:
        raise AssertionError("still at work after a minute: not linear in the length of the input")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
