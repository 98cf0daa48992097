"""A short match in xboard, and proof that the judge of such matches sees bad engines.

The long match is the same script with its defaults: python benchmarks/xboard_match.py
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "xboard_match.py"
FOUND = all(shutil.which(name, path="/usr/bin:/usr/games") for name in ("xboard", "polyglot", "xvfb-run", "toga2"))
needs_xboard = pytest.mark.skipif(not FOUND, reason="apt install xboard polyglot xvfb toga2")
pytestmark = [pytest.mark.engine, pytest.mark.slow]

# Plays two sound moves, then does its deed: xboard does not write games without moves.
BAD_ENGINE = """
import sys, time
import chess
from diffusearch.play.uci_words import parse_position
moves = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name DiffuSearch impostor", "uciok", sep="\\n", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        board = parse_position(words[1:])
    elif words[0] == "go" and "ponder" not in words:
        moves += 1
        if moves > 2:
            {deed}
        else:
            print("bestmove", next(iter(board.legal_moves)), flush=True)
    elif words[0] == "quit":
        break
"""


# What xboard's log says when the second engine has died between two games; the first has answered everything.
HUNG = """
16434 <second: tellusererror POLYGLOT: pipex_exit(): gnuchess --uci: child terminated with signal 6.
17231 >first : force
17231 >first : ping 14
17231 >second: force
17231 >second: ping 12
17305 <first : pong 14
"""


def match(folder: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    command = [sys.executable, str(SCRIPT), "--json", "--out", str(folder), "--opponents", "toga2", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("xboard_match", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "xboard_match", module)
    spec.loader.exec_module(module)
    return module


@needs_xboard
def test_fast_games_end_on_the_board(tmp_path: Path) -> None:
    # Slower than the long match: here the machine may be busy with other tests.
    question = ("--agent", "greedy-material", "--games", "2", "--base", "10", "--inc", "0.3")
    code, report, progress = match(tmp_path, *question)
    assert report["faults"] == []
    assert code == 0
    assert "toga2: game 2 of 2" in progress
    assert report["matches"][0]["games"] == 2
    assert report["matches"][0]["plies"] > 20
    # The same question is answered from the folder.
    _, again, progress = match(tmp_path, *question)
    assert progress == "toga2: 2 games are there already\n"
    assert again["matches"] == report["matches"]


@needs_xboard
@pytest.mark.parametrize(
    ("deed", "word"),
    [
        ('print("bestmove a1a8", flush=True)', "illegal"),
        ("time.sleep(30)", "time"),
        ("sys.exit(3)", "time"),  # polyglot hides the death; the clock of the dead runs on
    ],
)
def test_the_judge_sees_bad_engines(tmp_path: Path, deed: str, word: str) -> None:
    engine = tmp_path / "bad_engine.py"
    engine.write_text(BAD_ENGINE.format(deed=deed))
    code, report, _ = match(tmp_path / "match", "--command", f"{sys.executable} {engine}", "--games", "1")
    assert code == 1
    assert any(word in fault for fault in report["faults"]), report


def test_a_match_that_hangs_is_ended_and_the_silent_one_blamed(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spinning = tmp_path / "xvfb-run"
    spinning.write_text(f"#!/bin/sh\ncat > xboard.debug <<'END'\n{HUNG}END\nsleep 1000\n")
    spinning.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(script.Match, "patience", 1.5)
    folder = tmp_path / "gnuchess"
    assert not script.play(folder, script.Match("ours", "gnuchess", 2, 1.0, 0.05, False, 0))
    report = script.judge(folder, "gnuchess", 2)
    assert report.theirs == ["2 games were to be played, 0 were"]
    assert report.ours == []


@pytest.mark.parametrize(
    ("log", "who"),
    [
        (HUNG, {"second"}),
        ("1 >first : ping 1\n2 <first : pong 1\n", set()),
        ("1 >first : ping 12\n2 <first : pong 1\n", {"first"}),
        ("1 >first : usermove 1 >first : e2e4\n2 <second: 1 +20 0 9 e5\n", {"first"}),
        ("1 >first : usermove 1 >first : e2e4\n2 <first : move e7e5\n3 >second: go\n", {"second"}),
        ("1 >first : go\n2 >first : force\n", set()),  # the game is over
    ],
)
def test_who_owes_an_answer(script: Any, tmp_path: Path, log: str, who: set[str]) -> None:
    (tmp_path / "xboard.debug").write_text(log)
    assert script.silent(tmp_path / "xboard.debug") == who
