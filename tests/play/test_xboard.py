"""A short match in xboard, and proof that the judge of such matches sees bad engines.

The long match is the same script with its defaults: python benchmarks/xboard_match.py
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "xboard_match.py"
FOUND = all(shutil.which(name, path="/usr/bin:/usr/games") for name in ("xboard", "polyglot", "xvfb-run", "toga2"))
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not FOUND, reason="apt install xboard polyglot xvfb toga2"),
]

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


def match(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, str(SCRIPT), "--json", "--out", str(folder), "--opponents", "toga2", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_fast_games_end_on_the_board(tmp_path: Path) -> None:
    # Slower than the long match: here the machine may be busy with other tests.
    code, report = match(tmp_path, "--agent", "greedy-material", "--games", "2", "--base", "10", "--inc", "0.3")
    assert report["faults"] == []
    assert code == 0
    assert report["matches"][0]["games"] == 2
    assert report["matches"][0]["plies"] > 20


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
    code, report = match(tmp_path / "match", "--command", f"{sys.executable} {engine}", "--games", "1")
    assert code == 1
    assert any(word in fault for fault in report["faults"]), report
