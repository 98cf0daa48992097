"""The program prints in UTF-8, whatever the encoding of the system's pipes is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from diffusearch.cli import main

PROGRAM = [sys.executable, "-m", "diffusearch"]
ENGINE = [sys.executable, "-c", "from diffusearch.cli.play import uci_program; uci_program()"]


def said(encoding: str, *command: str, talk: str = "") -> tuple[int, str, str]:
    """Exit code, output and errors of a program whose pipes have an encoding."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(command, env=environment, input=talk.encode(), capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_bars_are_printed(encoding: str) -> None:
    code, out, errors = said(encoding, *PROGRAM, "move", "startpos", "--agent", "s-a")
    assert (code, errors) == (0, "")
    assert "█" in out


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_refusals_are_printed(encoding: str) -> None:
    code, _, errors = said(encoding, *PROGRAM, "move", "♞")
    assert code == 2
    assert "♞" in errors


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_the_engine_names_a_folder_of_any_script(encoding: str, tmp_path: Path) -> None:
    folder = tmp_path / "веса"
    talk = f"uci\nsetoption name Weights value {folder}\nisready\nposition startpos\ngo nodes 1\nisready\n"
    code, out, errors = said(encoding, *ENGINE, talk=talk)
    assert (code, errors) == (0, "")
    assert out.count("readyok") == 2
    assert any("веса" in line for line in out.splitlines() if line.startswith("info string"))


def test_streams_of_other_kinds_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Recorder:
        """As much of a stream as `print` needs."""

        text = ""

        def write(self, text: str) -> int:
            self.text += text
            return len(text)

        def flush(self) -> None:
            pass

    recorder = Recorder()
    monkeypatch.setattr(sys, "stderr", recorder)
    monkeypatch.setattr(sys, "argv", ["diffusearch", "move", "no position"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "no position" in recorder.text
