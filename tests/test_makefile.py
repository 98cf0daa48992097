"""What make installs for whom: players no developers' tools, and both in one .venv in either order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.posix  # GNU make and a shell

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of a fresh checkout as make looks at when it only says what it would do."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "web/package.json", "web/package-lock.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def extras(checkout: Path, target: str) -> list[str]:
    """The extras that make would install for a target, in turn ("": none); then its stamps are there, as if it had."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make", "-n", target], cwd=checkout, env=clean, check=True, capture_output=True, text=True)
    (checkout / ".venv").mkdir(exist_ok=True)
    for stamp in re.findall(r"^touch (\.venv/\S+)$", done.stdout, flags=re.MULTILINE):
        (checkout / stamp).touch()
    installs = [line for line in done.stdout.splitlines() if "pip install" in line]
    assert all("-c constraints.txt" in line for line in installs)  # else torch may come with CUDA
    return [match for line in installs for match in re.findall(r"-e '?\.(?:\[(.*)\])?'?$", line)]


@pytest.mark.parametrize("target", ["play", "demo"])
def test_players_get_no_developers_tools(checkout: Path, target: str) -> None:
    assert extras(checkout, target) == [""]
    assert extras(checkout, target) == []


def test_tests_come_on_top_of_playing(checkout: Path) -> None:
    assert extras(checkout, "play") == [""]
    assert extras(checkout, "test") == ["dev"]
    assert extras(checkout, "play") == extras(checkout, "lint") == []


def test_playing_comes_after_tests(checkout: Path) -> None:
    assert extras(checkout, "test") == ["", "dev"]
    assert extras(checkout, "demo") == []


def test_other_versions_are_installed_for_both(checkout: Path) -> None:
    extras(checkout, "test")
    later = (checkout / ".venv" / ".developing").stat().st_mtime + 10
    os.utime(checkout / "constraints.txt", (later, later))
    assert extras(checkout, "setup") == ["", "dev"]


def test_tests_have_both_pages(checkout: Path) -> None:
    """Without a built page its tests in Chromium are skipped."""
    done = subprocess.run(["make", "-n", "test"], cwd=checkout, check=True, capture_output=True, text=True)
    built = re.findall(r"npm run --silent (\S+)", done.stdout)
    assert set(built) == {"build", "build:static"}
