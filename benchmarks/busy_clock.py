"""Games on a short clock beside a busy neighbour: is any lost on time?

    python benchmarks/busy_clock.py --games 10 --base 1 --inc 0 --neighbours 1 [--core 0] [--agent TEXT]

The engine and the neighbours (endless loops) are bound to one core, the referee and the opponent run on the others;
only our clock runs. First a program that only echoes lines is timed in the engine's place: no engine can be faster than
that. A game without an end is a draw after 150 moves. Prints one line a game and a summary; the exit code is 1 if a
game was lost on time or ended with an illegal move.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass

import chess

from diffusearch.agents.base import Agent
from diffusearch.agents.build import agent as build

LONGEST = 300  # plies
SPIN = "while True: pass"
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


@dataclass(frozen=True)
class Played:
    """One game: our moves, those without the network, what was left on the clock, and how it ended."""

    moves: int
    fallbacks: int
    left: float
    end: str


class Program:
    """A program on one core, spoken to over its pipes."""

    def __init__(self, command: list[str], core: int) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        os.sched_setaffinity(self.process.pid, {core})

    def ask(self, line: str, until: str) -> list[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        answers: list[str] = []
        while not answers or not answers[-1].startswith(until):
            answers.append(self.process.stdout.readline())
            assert answers[-1], "the engine ended"
        return answers


def play(engine: Program, other: Agent, seed: int, base: float, inc: float) -> Played:
    lots = random.Random(seed)
    board, ours, left, moves, fallbacks = chess.Board(), seed % 2 == 0, base, 0, 0
    for _ in range(4):
        board.push(lots.choice(list(board.legal_moves)))
    engine.ask("ucinewgame\nisready", "readyok")
    while board.outcome(claim_draw=True) is None and board.ply() < LONGEST:
        if board.turn != ours:
            board.push(other.play(board).move)
            continue
        line = f"position startpos moves {' '.join(move.uci() for move in board.move_stack)}\n"
        clock = f"{1000 * left:.0f}"
        began = time.monotonic()
        answers = engine.ask(
            f"{line}go wtime {clock} btime {clock} winc {1000 * inc:.0f} binc {1000 * inc:.0f}", "bestmove"
        )
        left -= time.monotonic() - began
        moves, fallbacks = moves + 1, fallbacks + any("No time" in line for line in answers)
        if left < 0:
            return Played(moves, fallbacks, left, "time")
        left += inc
        move = chess.Move.from_uci(answers[-1].split()[1])
        if move not in board.legal_moves:
            return Played(moves, fallbacks, left, "illegal")
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    return Played(moves, fallbacks, left, outcome.termination.name.lower() if outcome else "length")


def round_trip(core: int, count: int = 100) -> float:
    """Milliseconds of one line to a program that echoes it, and back."""
    echo = Program([sys.executable, "-c", ECHO], core)
    echo.ask("x", "x")
    total = 0.0
    for _ in range(count):
        time.sleep(0.002)  # as an opponent that moves at once
        began = time.monotonic()
        echo.ask("x", "x")
        total += time.monotonic() - began
    echo.process.kill()
    return 1000 * total / count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--agent", help="the default agent of `diffusearch uci` if it is not given")
    parser.add_argument("--opponent", default="stockfish:nodes=2000")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--base", type=float, default=1.0, help="seconds")
    parser.add_argument("--inc", type=float, default=0.0, help="seconds for each move")
    parser.add_argument("--neighbours", type=int, default=1)
    parser.add_argument("--core", type=int, default=0)
    given = parser.parse_args()
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {given.core})
    other = build(given.opponent)
    engine = Program(
        [sys.executable, "-m", "diffusearch", "uci", *(["--agent", given.agent] if given.agent else [])], given.core
    )
    engine.ask("uci", "uciok")
    engine.ask("isready", "readyok")
    busy = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(given.neighbours)]
    try:
        for process in busy:
            os.sched_setaffinity(process.pid, {given.core})
        games: list[Played] = []
        echo = round_trip(given.core)
        for seed in range(given.games):
            games.append(play(engine, other, seed, given.base, given.inc))
            print(games[-1], file=sys.stderr, flush=True)
    finally:
        for process in busy:
            process.kill()
        engine.process.kill()
        other.close()
    faults = sum(game.end in ("time", "illegal") for game in games)
    moves, fallbacks = sum(game.moves for game in games), sum(game.fallbacks for game in games)
    print(
        json.dumps(
            {
                "games": len(games),
                "faults": faults,
                "moves": moves,
                "fallback moves": fallbacks,
                "echo ms": round(echo, 1),
            }
        )
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
