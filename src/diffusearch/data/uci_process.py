"""A UCI engine process for labelling: many short searches, each independent of the others.

Only the last lines of a search are parsed (python-chess's client parses every line, which costs a tenth of the wall
time at 10,000 nodes). Every fault of the engine raises an EngineFault.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from diffusearch.data.pipe_reader import PipeReader
from diffusearch.data.scores import Score
from diffusearch.errors import UserError

_RANK = re.compile(r" multipv (\d{1,9}) ")
_DEPTH = re.compile(r" depth (\d{1,9}) ")
_FIRST_MOVE = re.compile(r" pv (\S+)")
START_SECONDS = 60.0  # to say uciok; a network may have to be loaded, on a busy machine
SHORTEST = 0.001  # seconds of a search: UCI counts milliseconds
LARGEST = 32_767  # score in centipawns or moves; engines stay below


class EngineFault(Exception):
    """The engine crashed, hung or gave a wrong answer; the message is the reason."""


@dataclass(frozen=True)
class SearchBudget:
    """The limit of one search; exactly one of the three is given."""

    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise UserError("a search has no limit; give one of --nodes, --depth, --seconds")
        if len(given) > 1:
            words = " and ".join(f"--{name} {value}" for name, value in given.items())
            raise UserError(f"{words} limit one search; give only one of --nodes, --depth, --seconds")
        ((name, value),) = given.items()
        least = SHORTEST if name == "seconds" else 1
        if not least <= value < math.inf:
            what = "too small" if value < least else "no finite number"
            raise UserError(f"--{name} {value:g} is {what}; give {least:g} or more")

    def times(self, factor: int) -> SearchBudget:
        """The budget for `factor` moves in one search; a depth stays the same."""
        if self.nodes is not None:
            return SearchBudget(nodes=self.nodes * factor)
        return SearchBudget(seconds=self.seconds * factor) if self.seconds is not None else self

    def command(self) -> str:
        if self.nodes is not None:
            return f"go nodes {self.nodes}"
        if self.depth is not None:
            return f"go depth {self.depth}"
        assert self.seconds is not None
        return f"go movetime {round(self.seconds * 1000)}"


@dataclass(frozen=True)
class AnalysedLine:
    """One line of analysis."""

    score: Score  # of the root, side to move's view
    moves: tuple[str, ...]  # UCI, not checked for legality
    nodes: int


@dataclass(frozen=True)
class Analysis:
    """The result of a search: the best move and the variations by rank."""

    best: str  # UCI, or "(none)"
    variations: tuple[AnalysedLine, ...]


def find_engine(path: str | None) -> str:
    """The path of the engine: as given, else $DIFFUSEARCH_STOCKFISH, else Stockfish on PATH or in /usr/games."""
    wanted = path or os.environ.get("DIFFUSEARCH_STOCKFISH") or "stockfish"
    found = shutil.which(wanted)
    if found is None and wanted == "stockfish":
        found = shutil.which(wanted, path="/usr/games")
    if found is None:
        words = "install Stockfish (apt install stockfish), set DIFFUSEARCH_STOCKFISH or give a path"
        raise UserError(f"no engine {wanted!r} found; {words}")
    return str(Path(found).absolute())


class EngineProcess:
    """One running engine process. Not for use by several threads."""

    def __init__(self, path: str, options: Mapping[str, int | str], timeout: float) -> None:
        self.timeout = timeout  # seconds for one search, beyond those of its budget
        try:
            self._process = subprocess.Popen(
                [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        except OSError as error:
            raise UserError(f"cannot start the engine {path}: {error.strerror}; give another with --engine") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._output = PipeReader(self._process.stdout)
        self._buffer = b""
        self._multipv = 1
        self._known: set[str] = set()  # options, in lower case
        self.name = "unknown"
        self.options: dict[str, int | str] = {}  # options that the engine has, with the values that were set
        try:
            self._start(options)
        except EngineFault:
            self.close()
            raise

    def _start(self, options: Mapping[str, int | str]) -> None:
        self._send("uci")
        for line in self._until("uciok", START_SECONDS):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ")
            elif line.startswith("option name "):
                self._known.add(line.removeprefix("option name ").split(" type ")[0].lower())
        # Options that the engine lacks are not set.
        self.options = {name: value for name, value in options.items() if name.lower() in self._known}
        for name, value in self.options.items():
            self._send(f"setoption name {name} value {value}")
        self._send("isready")
        self._until("readyok", START_SECONDS)

    def search(self, fen: str, budget: SearchBudget, multipv: int = 1, exact: bool = False) -> Analysis:
        """The last analysis of a position, independent of all earlier searches.

        With `exact` each first move that was ever analysed comes with its last exact score, see _exact_variations.
        """
        commands = ["ucinewgame"]  # clears the hash and all search history
        if multipv != self._multipv:
            if "multipv" not in self._known:
                raise EngineFault("has no option MultiPV")
            commands.append(f"setoption name MultiPV value {multipv}")
            self._multipv = multipv
        commands += [f"position fen {fen}", budget.command()]
        self._send("\n".join(commands))
        lines = self._until("bestmove", self.timeout + (budget.seconds or 0.0))
        words = lines[-1].split()
        if len(words) < 2:
            raise EngineFault("no bestmove")
        return Analysis(words[1], _exact_variations(lines) if exact else _variations(lines, multipv))

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._output.close()

    def _send(self, text: str) -> None:
        try:
            self._stdin.write(text.encode() + b"\n")
        except OSError as error:
            raise EngineFault("crashed") from error

    def _until(self, word: str, seconds: float) -> list[str]:
        """Read lines until one starts with a word; that line is the last."""
        deadline = time.monotonic() + seconds
        start = word.encode()
        lines: list[str] = []
        while True:
            *complete, self._buffer = self._buffer.split(b"\n")
            for number, raw in enumerate(complete):
                lines.append(raw.decode("utf-8", "replace").strip())
                if raw.startswith(start):
                    self._buffer = b"\n".join([*complete[number + 1 :], self._buffer])
                    return lines
            left = deadline - time.monotonic()
            chunk = self._output.read(left) if left > 0 else None
            if chunk is None:
                raise EngineFault("hung")
            if not chunk:
                raise EngineFault("crashed")
            self._buffer += chunk


def _variations(lines: list[str], multipv: int) -> tuple[AnalysedLine, ...]:
    """The last line of analysis on each first move, by rank. A search that is cut off may end on a bound of the score.

    Lines are told apart by their first move, not by rank: two moves may exchange their ranks from line to line.
    """
    last: dict[str, tuple[int, str]] = {}
    for line in reversed(lines):
        if (named := _analysed(line)) is not None:
            last.setdefault(named, (_number(_RANK, line, 1), line))
            if len(last) == multipv:
                break
    return tuple(_variation(line) for _, line in sorted(last.values(), key=lambda ranked: ranked[0]))


def _exact_variations(lines: list[str]) -> tuple[AnalysedLine, ...]:
    """The last exact score of each first move, the deepest first, moves of equal depth by rank.

    A move that only has bounds of its score comes with the last of them, after all others.
    """
    last: dict[str, tuple[tuple[bool, int, int], str]] = {}
    for line in reversed(lines):
        if (named := _analysed(line)) is not None:
            bound = " lowerbound" in line or " upperbound" in line
            if named not in last or (last[named][0][0] and not bound):
                last[named] = (bound, -_number(_DEPTH, line, 0), _number(_RANK, line, 1)), line
    return tuple(_variation(line) for _, line in sorted(last.values(), key=lambda ranked: ranked[0]))


def _analysed(line: str) -> str | None:
    """The first move of a line of analysis; None of any other line."""
    if not line.startswith("info ") or " score " not in line:
        return None
    named = _FIRST_MOVE.search(line)
    return named.group(1) if named else None


def _number(pattern: re.Pattern[str], line: str, default: int) -> int:
    found = pattern.search(line)
    return int(found.group(1)) if found else default


def _variation(line: str) -> AnalysedLine:
    try:
        words = line.split()
        kind, amount = words[words.index("score") + 1 : words.index("score") + 3]
        score = Score(mate=int(amount)) if kind == "mate" else Score(cp=int(amount))
        nodes = int(words[words.index("nodes") + 1]) if "nodes" in words else 0
        if abs(int(amount)) > LARGEST or not nodes >= 0:
            raise EngineFault("unreadable analysis")
        return AnalysedLine(score, tuple(words[words.index("pv") + 1 :]), min(nodes, 2**31 - 1))
    except ValueError as error:
        raise EngineFault("unreadable analysis") from error
