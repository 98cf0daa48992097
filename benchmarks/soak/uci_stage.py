"""A million UCI lines: to programs of their own, and to an engine whose agent is slow now and then."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from functools import partial

import chess

from diffusearch.agents.base import Decision, Limits
from diffusearch.agents.simple import RandomAgent
from diffusearch.play.uci import converse
from diffusearch.play.uci_options import UciOptions
from soak.uci_lines import check, lines
from soak.units import Outcome, Stage, Unit, parts, resident, scaled

LINES, NETWORK_LINES = 1_000_000, 20_000  # in all; of them to an agent with a network
PART = 50_000
PROGRAM = [sys.executable, "-m", "diffusearch", "uci", "--agent"]


class Moody(RandomAgent):
    """Takes its time now and then, so that clocks run out while it decides and answers come from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self.lots = random.Random(5)

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        if self.lots.random() < 0.02:
            time.sleep(0.05)
        return super().play(board, limits)


def stage(scale: float) -> Stage:
    network = parts(scaled(NETWORK_LINES, scale, 200), 2_000)
    rest = parts(scaled(LINES, scale, 400) - sum(network), PART)
    units = [Unit(f"s-a {n}", partial(to_a_program, "s-a", n, count)) for n, count in enumerate(network)]
    for n, count in enumerate(rest):
        if n % 2:
            units.append(Unit(f"slow agent {n}", partial(to_a_slow_agent, n, count)))
        else:
            units.append(Unit(f"random {n}", partial(to_a_program, "random", n, count)))
    about = (
        f"half the lines sensible, half nonsense, in any order; {sum(network):,} to `diffusearch uci --agent s-a`, the "
        "others to `diffusearch uci --agent random` and, in turn, to an engine in this process whose agent sleeps now "
        "and then; checked: the nth `bestmove` answers the nth `go` and is legal there, nothing goes to stderr, the "
        "program ends with code 0"
    )
    return Stage("uci", about, units)


def to_a_program(agent: str, number: int, count: int) -> Outcome:
    """Lines to a program of its own; its memory after a tenth of the answers and at the end."""
    # Options of the agent are left alone: here the real agents are built, and words would be no agent.
    sent = [line for line in lines(1000 + number, 2 * count) if b"setoption" not in line][:count]
    sent += [b"stop\n", b"isready\n"]
    process = subprocess.Popen([*PROGRAM, agent], stdin=-1, stdout=-1, stderr=-1)
    assert process.stdout is not None
    errors: list[bytes] = []
    feeding = threading.Thread(target=_feed, args=(process, sent), daemon=True)
    reading = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    feeding.start()
    reading.start()
    asked = sum(b"isready" in line for line in sent)
    said: list[str] = []
    ready, first, last = 0, 0.0, 0.0
    for line in process.stdout:
        said.append(line.decode("utf-8").rstrip("\n"))
        if said[-1] == "readyok":
            ready += 1
            if not first and ready > asked / 10:
                first = resident(process.pid)
            if ready % 100 == 0 or ready > asked - 5:
                last = resident(process.pid) or last
    outcome = Outcome({"lines": len(sent)}, memory={f"uci --agent {agent}": (first, last)})
    if process.wait() != 0:
        outcome.faults.append(f"ended with code {process.returncode}")
    reading.join()
    if errors:
        outcome.faults.append(f"stderr: {b''.join(errors)[-500:]!r}")
    outcome.add("bestmoves", check(sent, said))
    return outcome


def _feed(process: subprocess.Popen[bytes], sent: list[bytes]) -> None:
    assert process.stdin is not None
    try:
        for line in sent:
            process.stdin.write(line)
        process.stdin.close()
    except BrokenPipeError:
        pass  # the program has died, which its exit code tells


def to_a_slow_agent(number: int, count: int) -> Outcome:
    """Lines with all options to an engine in this process."""
    sent, said = lines(2000 + number, count), []
    before = resident()
    if not converse(sent, said.append, lambda text: Moody(), UciOptions(Agent="random")):
        return Outcome({"lines": count}, ["the engine's worker did not end"])
    best = check(sent, "\n".join(said).split("\n"))
    return Outcome({"lines": count, "bestmoves": best}, memory={"this process": (before, resident())})
