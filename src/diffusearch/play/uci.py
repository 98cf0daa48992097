"""`diffusearch uci`: reads UCI lines, calls the engine, prints its lines. Only the protocol is here.

An unknown word is skipped and the rest of its line is read, as the protocol asks; what is wrong in a known command
comes back as `info string`. The reader never thinks and never waits. Ctrl-C and SIGTERM answer what is open and end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import BinaryIO

import chess

from diffusearch import __version__
from diffusearch.agents.base import Agent
from diffusearch.errors import UserError
from diffusearch.play.uci_engine import Build, Say, ThinkingEngine
from diffusearch.play.uci_options import UciOptions
from diffusearch.play.uci_words import PositionReader, parse_go
from diffusearch.play.wakeable_lines import wakeable_lines
from diffusearch.weights import VERSION

_SWITCH = 0.001  # seconds between threads: the reader must not wait long for a thread that computes


class Terminated(BaseException):
    """Raised in the reader by Ctrl-C or SIGTERM."""


class UciProtocol:
    """One conversation with a GUI."""

    def __init__(self, engine: ThinkingEngine) -> None:
        self.engine = engine
        self.board: chess.Board | None = chess.Board()  # None after a position that was refused
        self._positions = PositionReader()
        self._commands: dict[str, Callable[[Sequence[str]], None]] = {
            "uci": self._uci,
            "isready": lambda words: engine.ready(),
            "ucinewgame": lambda words: engine.new_game(),
            "setoption": self._setoption,
            "position": self._position,
            "go": lambda words: engine.go(self.board.copy() if self.board else None, parse_go(words)),
            "stop": lambda words: engine.stop(),
            "ponderhit": lambda words: engine.ponderhit(),
            "d": self._show,
            "debug": lambda words: None,  # there is nothing more to print
            "register": lambda words: None,
        }

    def line(self, text: str) -> bool:
        """Obey one line; False when it says quit."""
        words = text.split()
        for at, word in enumerate(words):
            if word == "quit":
                return False
            if word in self._commands:
                try:
                    self._commands[word](words[at + 1 :])
                except UserError as error:
                    self.engine.say(f"info string {error}")
                return True
        return True

    def _uci(self, words: Sequence[str]) -> None:
        say = self.engine.say
        weights = "" if self.engine.options.text("Weights") else f" (weights {VERSION})"
        say(f"id name DiffuSearch {__version__}{weights}")
        say("id author the DiffuSearch maintainers")
        for line in self.engine.options.declared():
            say(line)
        say("uciok")

    def _setoption(self, words: Sequence[str]) -> None:
        """`setoption name N [value V]`: both may hold spaces."""
        if words[:1] != ["name"] or len(words) < 2:
            raise UserError("Option refused: write `setoption name NAME value VALUE`.")
        at = words.index("value") if "value" in words else len(words)
        self.engine.options.set(" ".join(words[1:at]), " ".join(words[at + 1 :]))
        if notice := self.engine.options.notice:
            self.engine.say(f"info string {notice}")

    def _position(self, words: Sequence[str]) -> None:
        self.board = None  # a move for some other position would be worse than none
        self.board = self._positions.read(words)

    def _show(self, words: Sequence[str]) -> None:
        """Not part of UCI, for people at a terminal: the board and its FEN."""
        self.engine.say(f"{self.board}\n\nFen: {self.board.fen()}" if self.board else "no position")


def build_agent(text: str) -> Agent:
    """The agent of a text; imported here, because agents bring a network and `uciok` should not wait for it."""
    from diffusearch.agents.build import agent

    return agent(text)


def converse(lines: Iterable[bytes], say: Say, build: Build = build_agent, options: UciOptions | None = None) -> bool:
    """Obey lines until `quit` or the end of input; True if every thread has ended.

    At the end of input (a pipe from a script) a limited `go` is still thought through; `quit` cuts it short, and a
    signal is answered at once with what there is.
    """
    engine = ThinkingEngine(say, build, options)
    protocol = UciProtocol(engine)
    try:
        for line in lines:
            if not protocol.line(line.decode("utf-8", errors="replace")):
                return engine.close()
        return engine.close(finish=True)
    except Terminated:
        return engine.close(at_once=True)


def serve(options: UciOptions | None = None, stdin: BinaryIO | None = None) -> bool:
    """Run on standard input and output."""

    def say(line: str) -> None:
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except OSError:  # the GUI is gone; nothing is left to say from any thread
            os._exit(0)

    def terminate(number: int, _: FrameType | None) -> None:
        signal.signal(number, lambda *_: os._exit(0))  # a second one does not wait for anything
        raise Terminated

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, terminate)
    sys.setswitchinterval(_SWITCH)
    return converse(wakeable_lines(stdin or sys.stdin.buffer), say, options=options)
