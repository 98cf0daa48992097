"""tools/programs with a pretended system: installs as root on a Debian, elsewhere says what to install."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.posix

SCRIPT = Path(__file__).parents[1] / "tools" / "programs"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: a user's `id`, and no apt."""
    sh = shutil.which("sh")
    assert sh is not None
    (tmp_path / "sh").symlink_to(sh)
    pretend(tmp_path, "id", "echo 1000")
    return tmp_path


def pretend(system: Path, name: str, script: str) -> None:
    (system / name).write_text(f"#!/bin/sh\n{script}\n")
    (system / name).chmod(0o755)


def run(system: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["sh", SCRIPT, *commands], env={"PATH": str(system)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def test_nothing_to_do(system: Path) -> None:
    done = run(system, "sh", "id")
    assert done.stdout == done.stderr == ""


def test_elsewhere_it_says_what_to_install(system: Path) -> None:
    assert "your system's packages: nodejs no-such-game" in run(system, "node", "no-such-game", "sh").stderr


def test_a_user_of_debian_is_told_the_command(system: Path) -> None:
    pretend(system, "apt-get", "exit 1")
    assert "sudo apt-get install xvfb" in run(system, "xvfb-run").stderr


def test_root_of_debian_gets_it(system: Path) -> None:
    pretend(system, "id", "echo 0")
    pretend(system, "apt-get", 'echo "$@"')
    lines = run(system, "no-such-game", "node", "sh").stdout.splitlines()
    assert lines[0].startswith("update")
    assert lines[1].startswith("install ")
    assert lines[1].endswith("no-such-game nodejs")
