"""Ctrl-C and SIGTERM end the UCI program cleanly, also in the middle of a network call."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import chess
import pytest

pytestmark = pytest.mark.slow

LIMIT = 300  # seconds until a test gives up


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("busy", [True, False], ids=["searching", "idle"])
def test_a_signal_ends_the_program_cleanly(number: signal.Signals, busy: bool, tiny_run: Path) -> None:
    run = ["--agent", "diffusearch", "--weights", str(tiny_run), "--steps", "200"]
    command = [sys.executable, "-m", "diffusearch", "uci", *run]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, bufsize=1, **pipes) as process:  # type: ignore[call-overload]
        try:
            process.stdin.write("uci\nsetoption name Imaginations value 64\nsetoption name Order value confidence\n")
            process.stdin.write("setoption name Temperature value 50\n")  # several records differ by their temperature
            process.stdin.write("isready\n")
            for line in process.stdout:
                if line.startswith("readyok"):
                    break
            if busy:
                process.stdin.write("position startpos\ngo infinite\n")
                for line in process.stdout:
                    if line.startswith("info depth"):  # the first look is done, the full decision has begun
                        break
            process.send_signal(number)
            said, errors = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    assert process.returncode == 0
    assert errors == ""
    if busy:
        answer = said.splitlines()[-1]
        assert chess.Move.from_uci(answer.split()[1]) in chess.Board().legal_moves
