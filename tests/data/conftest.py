from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

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
def make_engine(tmp_path: Path) -> MakeEngine:
    """Path of an executable engine that behaves by mode, see fake_engine.py."""

    def make(mode: str = "good", state: Path | None = None) -> str:
        script = tmp_path / f"engine-{mode}"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" {mode} {state or ""}\n')
        script.chmod(0o755)
        return str(script)

    return make


@pytest.fixture
def stockfish() -> str:
    found = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if found is None:
        pytest.skip("Stockfish is not installed")
    return found
