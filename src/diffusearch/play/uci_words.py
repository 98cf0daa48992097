"""UCI lines: those of the GUI become values, decisions become lines for the GUI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import chess

from diffusearch.agents.base import Decision
from diffusearch.errors import UserError
from diffusearch.fen import position_of
from diffusearch.play.clock import Clock

_NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate", "perft")
_FLAGS = ("infinite", "ponder")
# Share of draws between equals that UCI_ShowWDL assumes: a value says how well we stand, not how drawish it is.
_DRAWS_BETWEEN_EQUALS = 1 / 3
_LONGEST_TIME = 10**9  # ms; larger numbers are cut, so that no arithmetic overflows


@dataclass(frozen=True)
class Go:
    """One `go` line. Times are milliseconds, as sent."""

    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    movetime: int | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()

    def clock(self, turn: chess.Color) -> Clock | None:
        """The clock of the side to move in seconds, None where the line gives none."""
        time, increment = (self.wtime, self.winc) if turn == chess.WHITE else (self.btime, self.binc)
        if time is None:
            return None
        return Clock(max(0, time) / 1000, max(0, increment) / 1000, self.movestogo)


def _number(text: str) -> int | None:
    """A whole number of any size, cut to a sane range; None if it is none."""
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    size = int(digits[:12]) if len(digits) < 12 else _LONGEST_TIME
    return -min(size, _LONGEST_TIME) if text.startswith("-") else min(size, _LONGEST_TIME)


def parse_go(words: Sequence[str]) -> Go:
    """Read what follows `go`. Words that mean nothing here are passed over, as the protocol asks."""
    numbers: dict[str, int] = {}
    flags = dict.fromkeys(_FLAGS, False)
    moves: list[str] = []
    in_moves = False
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word in _NUMBERS:
            in_moves = False
            value = _number(words[i]) if i < len(words) else None
            if value is not None:
                numbers[word] = value
                i += 1
        elif word in _FLAGS:
            in_moves = False
            flags[word] = True
        elif word == "searchmoves":
            in_moves = True
        elif in_moves:
            moves.append(word)

    def positive(name: str) -> int | None:
        value = numbers.get(name)
        return value if value is not None and value > 0 else None

    return Go(
        wtime=numbers.get("wtime"),
        btime=numbers.get("btime"),
        winc=numbers.get("winc", 0),
        binc=numbers.get("binc", 0),
        movestogo=positive("movestogo"),
        movetime=positive("movetime"),
        nodes=positive("nodes"),
        depth=positive("depth"),
        infinite=flags["infinite"],
        ponder=flags["ponder"],
        searchmoves=tuple(moves),
    )


def parse_position(words: Sequence[str]) -> chess.Board:
    """Read what follows `position`; the board keeps the moves, so that repetitions can be seen."""
    at = words.index("moves") if "moves" in words else len(words)
    head, moves = words[:at], words[at + 1 :]
    if head[:1] == ["startpos"]:
        board = chess.Board()
    elif head[:1] == ["fen"]:
        try:
            board = position_of(" ".join(head[1:]))
        except UserError as error:
            raise UserError(f"Position refused, {error}") from None
    else:
        raise UserError("Position refused: `startpos` or `fen` must follow the word `position`.")
    return _played(board, moves)


def _played(board: chess.Board, moves: Sequence[str]) -> chess.Board:
    for word in moves:
        move = _legal(board, word)
        if move is None:
            raise UserError(f"Position refused, the move {word[:20]!r} is not legal in {board.fen()}.")
        board.push(move)
    return board


class PositionReader:
    """Reads `position` lines; of a game that goes on only the new moves, so that long games cost no time."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._board: chess.Board | None = None

    def read(self, words: Sequence[str]) -> chess.Board:
        """A board of its own for each line; a UserError if the position is refused."""
        known, old = len(self._words), self._board
        if old is not None and "moves" in self._words and list(words[:known]) == self._words:
            board = _played(old.copy(), words[known:])
        else:
            board = parse_position(words)
        self._words, self._board = list(words), board
        return board.copy()


def _legal(board: chess.Board, word: str) -> chess.Move | None:
    """The legal move that a word names (promotion in any case, castling also as king takes rook), else None."""
    try:
        move = board.parse_uci(word.lower())
    except ValueError:
        return None
    return move or None  # "0000" is a move for python-chess, but none that can be played


def allowed_moves(board: chess.Board, words: Sequence[str]) -> tuple[chess.Move, ...]:
    """The legal ones among `searchmoves`, each once; empty = all moves are allowed."""
    found: dict[chess.Move, None] = {}
    for word in words:
        move = _legal(board, word)
        if move is not None:
            found[move] = None
    return tuple(found)


def legal_line(board: chess.Board, decision: Decision) -> list[chess.Move]:
    """The line as far as it is legal; it always starts with the move that is played."""
    board = board.copy(stack=False)
    line: list[chess.Move] = []
    for move in decision.line if decision.line[:1] == (decision.move,) else (decision.move,):
        if not board.is_legal(move):
            break
        line.append(move)
        board.push(move)
    return line


def wdl(value: float) -> tuple[int, int, int]:
    """Wins, draws and losses per thousand whose expected score is `value` (the side to move's).

    The draw model is the Elo model's with a draw margin d: win = s(x - d), loss = s(-x - d), s the logistic curve.
    """
    margin = math.log((1 + _DRAWS_BETWEEN_EQUALS) / (1 - _DRAWS_BETWEEN_EQUALS))

    def win(x: float) -> float:
        return 1 / (1 + math.exp(margin - x))

    low, high = -30.0, 30.0  # the expected score grows with x: halve the interval until it is found
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + win(middle) - win(-middle)) / 2 < value else (low, middle)
    wins, losses = round(1000 * win(low)), round(1000 * win(-low))
    return wins, 1000 - wins - losses, losses


def score_words(board: chess.Board, line: Sequence[chess.Move], value: float | None, show_wdl: bool) -> str:
    """`score ...` of a decision, empty where no value is known and the line does not mate at once."""
    after = board.copy(stack=False)
    for move in line[:1]:
        after.push(move)
    if line and after.is_checkmate():
        return "score mate 1" + (" wdl 1000 0 0" if show_wdl else "")
    if value is None:
        return ""
    from diffusearch.tokens.values import centipawns

    words = f"score cp {centipawns(min(max(value, 0.0), 1.0))}"
    return words + (" wdl {} {} {}".format(*wdl(value)) if show_wdl else "")


def info_line(
    board: chess.Board, decision: Decision, rank: int, seconds: float, evaluations: int, show_wdl: bool
) -> str:
    """One `info` line: depth is the length of the line in plies, nodes are the evaluations since the `go`."""
    line = legal_line(board, decision)
    milliseconds = round(1000 * seconds)
    words = [
        f"info depth {len(line)} multipv {rank}",
        score_words(board, line, decision.value, show_wdl),
        f"nodes {evaluations}",
        f"nps {round(evaluations / seconds)}" if seconds > 0.001 else "",
        f"time {milliseconds}",
        "pv " + " ".join(move.uci() for move in line),
    ]
    return " ".join(word for word in words if word)


def bestmove_line(board: chess.Board, decision: Decision | None) -> str:
    """`bestmove`, with the expected reply to ponder on. `(none)` is what GUIs know for a finished game."""
    if decision is None:
        return "bestmove (none)"
    line = legal_line(board, decision)
    return f"bestmove {line[0].uci()}" + (f" ponder {line[1].uci()}" if len(line) > 1 else "")
