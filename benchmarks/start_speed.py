"""How soon a program plays: processor seconds until `uciok`, until `readyok`, of one move; memory in a game.

    python benchmarks/start_speed.py
    python benchmarks/start_speed.py --python OTHER/bin/python --backend torch

Every start is cold: no bytecode is read or written for the package and its dependencies, as after `pip install
--no-compile`. Processor time of a process and its threads is read when the line comes, so that a busy machine does not
matter. The memory is what the process takes at most: after a bare `go`, and in a game on a clock with wider trees;
the last move has the widest one, however busy the machine is. Linux only (/proc).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
GOALS = {"uciok": 0.3, "readyok": 1.0, "move startpos": 1.5}  # seconds
GAME = [*["go wtime 60000 btime 60000"] * 8, "go nodes 2000"]  # its moves, by both sides


def cold(python: str) -> tuple[list[str], dict[str, str]]:
    """The interpreter and the environment of a cold start; only Python's own library may have bytecode."""
    threads = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return [python, "-c", COLD], os.environ | threads


# Bytecode beside sources is refused except in Python's own library.
COLD = """
import importlib.machinery as machinery, sysconfig, sys
own = sysconfig.get_path("stdlib")
load = machinery.SourceFileLoader.get_code
read = machinery.SourceFileLoader.get_data
def get_data(self, path):
    if path.endswith(".pyc") and ("site-packages" in path or not path.startswith(own)):
        raise OSError("a cold start")
    return read(self, path)
machinery.SourceFileLoader.get_data = get_data
from diffusearch.cli import main
sys.argv = ["diffusearch", *sys.argv[1:]]
main()
"""


def spent(pid: int) -> float:
    """Processor seconds of a process so far, of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Resident megabytes at most so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def uci(python: str, agent: str) -> dict[str, float]:
    """One conversation: seconds until its answers, megabytes after a move and after a game."""
    command, environment = cold(python)
    with subprocess.Popen(
        [*command, "uci"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        found: dict[str, float] = {}

        def until(word: str) -> str:
            """The first line that begins with a word."""
            assert engine.stdout is not None
            for line in engine.stdout:
                if line.startswith(word):
                    found.setdefault(word, spent(engine.pid))
                    return line
            raise SystemExit(f"the engine ended before it said {word}")

        def say(line: str) -> None:
            assert engine.stdin is not None
            engine.stdin.write(line + "\n")
            engine.stdin.flush()

        for line, word in (("uci", "uciok"), (f"setoption name Agent value {agent}\nisready", "readyok")):
            say(line)
            until(word)
        say("position startpos\ngo")
        until("bestmove")
        found["after go"] = memory(engine.pid)
        played: list[str] = []
        for line in GAME:
            say(f"position startpos moves {' '.join(played)}\n{line}")
            played.append(until("bestmove").split()[1])
        found["in a game"] = memory(engine.pid)
        say("quit")
    return found


def move(python: str, agent: str) -> float:
    """Processor seconds of the whole program `diffusearch move startpos`."""
    command, environment = cold(python)
    before = os.times()
    subprocess.run([*command, "move", "startpos", "--agent", agent], env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--backend", choices=("onnx", "torch"), default="onnx")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    agent = f"search?backend={arguments.backend}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        talks = [uci(arguments.python, agent) for _ in range(arguments.times)]
        moves = [move(arguments.python, agent) for _ in range(arguments.times)]
    figures = {name: statistics.median(talk[name] for talk in talks) for name in ("uciok", "readyok")}
    figures["move startpos"] = statistics.median(moves)
    print(f"{agent}, processor seconds, the median of {arguments.times} cold starts")
    for name, seconds in figures.items():
        print(f"{name:14s} {seconds:6.2f} s   (goal {GOALS[name]})")
    for name in ("after go", "in a game"):
        print(f"memory {name:9s}{max(talk[name] for talk in talks):5.0f} MB  (goal 300)")


if __name__ == "__main__":
    main()
