"""The fuzzer: garbage and legal words in any order. No crash, no hang, one bestmove for each go, always legal."""

from __future__ import annotations

import random
import subprocess
import sys

import chess
import pytest

from diffusearch.agents.simple import RandomAgent
from diffusearch.play.uci import converse
from diffusearch.play.uci_options import TABLE, Options

# a thread that dies of an exception is a failure, not a remark
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

_WORDS = "uci isready ucinewgame setoption position go stop ponderhit debug register d"
COMMANDS = tuple(_WORDS.split())
_GO = "wtime btime winc binc movestogo movetime nodes depth infinite ponder searchmoves mate"
GO = tuple(_GO.split())
WORDS = ("startpos", "fen", "moves", "name", "value", "on", "off", "true", "false", "<empty>", "Move", "Overhead")
NUMBERS = ("0", "1", "-1", "7", "1000", "99999999999999999999", "1e5", "0x10", "NaN", "½", "٣")
FENS = (
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "R6k/8/6K1/8/8/8/8/8 b - - 0 1",  # mate
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",  # 218 moves
    "8/8/8/8/8/8/8/K6k w - - 99 999",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8 w KQkq -",
    "4k3/8/8/8/3pP3/8/8/4K2R b K e3 0 1",
)


def garbage(lots: random.Random) -> str:
    size = lots.randrange(12)
    return "".join(
        chr(lots.randrange(32, 127) if lots.random() < 0.5 else lots.randrange(1, 0x3000)) for _ in range(size)
    )


def some_move(lots: random.Random) -> str:
    return lots.choice(chess.SQUARE_NAMES) + lots.choice(chess.SQUARE_NAMES) + lots.choice(("", "", "", "q", "k"))


def some_word(lots: random.Random) -> str:
    kind = lots.randrange(7)
    pool = (COMMANDS, GO, WORDS, NUMBERS, tuple(option.name for option in TABLE))
    return lots.choice(pool[kind]) if kind < 5 else some_move(lots) if kind == 5 else garbage(lots)


def good_position(lots: random.Random) -> str:
    board = chess.Board()
    for _ in range(lots.randrange(8)):
        board.push(lots.choice(list(board.legal_moves)))
    return "position startpos moves " + " ".join(move.uci() for move in board.move_stack)


def sensible(lots: random.Random) -> str:
    kind = lots.randrange(8)
    if kind == 0:
        return good_position(lots)
    if kind == 1:
        return f"position fen {lots.choice(FENS)}" + (f" moves {some_move(lots)}" if lots.random() < 0.3 else "")
    if kind == 2:
        words = [word for _ in range(lots.randrange(4)) for word in (lots.choice(GO), lots.choice(NUMBERS))]
        return "go " + " ".join(words)
    if kind == 3:
        option = lots.choice([option for option in TABLE if option.name not in ("Agent", "Weights", "Threads")])
        return f"setoption name {option.name} value {lots.choice((*NUMBERS, *option.words, 'true', 'false'))}"
    return lots.choice(COMMANDS[:3] + COMMANDS[6:])


def lines(seed: int, count: int) -> list[bytes]:
    """Half sensible, half nonsense; some bytes that are no text; never `quit` alone, that ends the talk."""
    lots = random.Random(seed)
    out: list[bytes] = []
    for _ in range(count):
        text = sensible(lots) if lots.random() < 0.5 else " ".join(some_word(lots) for _ in range(lots.randrange(9)))
        line = text.encode("utf-8", errors="surrogatepass").replace(b"quit", b"Quit").replace(b"\n", b" ")
        if lots.random() < 0.01:
            line += bytes(lots.randrange(256) for _ in range(20)).replace(b"\n", b"")
        out.append(line.replace(b"\r", b" ") + b"\n")
    return out


def goes(sent: list[bytes]) -> int:
    """How many lines mean `go`: its first known word decides."""
    known = {*COMMANDS}
    found = 0
    for line in sent:
        first = next((word for word in line.decode("utf-8", errors="replace").split() if word in known), None)
        found += first == "go"
    return found


def check(sent: list[bytes], said: list[str]) -> None:
    best = [line for line in said if line.startswith("bestmove")]
    assert len(best) == goes(sent) > len(sent) / 40
    assert not [line for line in said if "Error:" in line]  # an exception of ours that came back as info string
    assert said.count("uciok") > 0
    assert said.count("readyok") > 0


def test_a_hundred_thousand_lines_in_this_process() -> None:
    sent = lines(seed=1, count=100_000)
    said: list[str] = []
    assert converse(sent, said.append, lambda text: RandomAgent(), Options(Agent="random"))
    check(sent, "\n".join(said).split("\n"))


def test_some_thousand_lines_through_a_real_process() -> None:
    sent = lines(seed=2, count=5_000)
    command = [sys.executable, "-m", "diffusearch", "uci", "--agent", "random"]
    # Options of the agent are left alone: here the real agents are built, and words would be no agent.
    sent = [line for line in sent if b"setoption" not in line]
    done = subprocess.run(command, input=b"".join(sent), capture_output=True, timeout=240, check=False)
    assert done.stderr == b""
    assert done.returncode == 0
    check(sent, done.stdout.decode("utf-8").splitlines())
