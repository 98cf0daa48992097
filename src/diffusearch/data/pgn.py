"""PGN as a stream of games: split first, look at the headers, and parse moves only of games that are wanted.

The splitter follows python-chess's rules for where a game ends (a blank line outside a comment), and the moves
themselves are read by python-chess, so both always agree on what was played. A game whose main line cannot be
read is broken: it has a reason, and it is counted, not fatal.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import chess
import chess.pgn

_TAG = re.compile(r'^\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"([^\r]*)"\]\s*$')
_BRACES = re.compile(r"[;{}]")
# What is not played: comments, lines that are escaped, tag pairs.
_ASIDE = re.compile(r"\{[^}]*\}|;[^\n]*|^[%\[][^\n]*", re.MULTILINE)
_VARIATION = re.compile(r"\([^()]*\)")
# Words of a movetext: a move as python-chess reads it, a number, a sign of annotation; "e.p." is cut at its points.
_WORD = re.compile(
    r"(?:[NBKRQ]?[a-h]?[1-8]?[-x]?[a-h][1-8](?:=?[nbrqkNBRQK])?|[PNBRQK]?@[a-h][1-8]|O-O(?:-O)?|0-0(?:-0)?|--|Z0|0000|@@@@)"
    r"[^\w\s]*(?:\$[0-9]+)?|[0-9]+|\$[0-9]+|[01]-[01]|1/2-1/2|[ep]|[^\w\s]+"
)


class Broken(Exception):
    """A game that cannot be used; the message is the reason it is counted under."""


@dataclass(frozen=True, slots=True)
class RawGame:
    """One game's lines, not yet parsed."""

    tags: tuple[str, ...]
    movetext: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.tags) + "\n" + "".join(self.movetext)

    def headers(self) -> dict[str, str]:
        """Tag pairs; malformed tags are left out, of a repeated tag the last counts."""
        matches = (_TAG.match(line) for line in self.tags)
        return {match.group(1): match.group(2) for match in matches if match}


@dataclass(frozen=True, slots=True)
class MainLine:
    """What was played: the first position and the moves from it."""

    start: chess.Board
    moves: tuple[chess.Move, ...]


def split(lines: Iterable[str]) -> Iterator[RawGame]:
    """Games of a PGN text, in order, whatever stands in them."""
    tags: list[str] = []
    movetext: list[str] = []
    blanks = 0  # consecutive blank lines after a tag
    in_comment = False
    first = True
    for line in lines:
        if first:
            line, first = line.lstrip("\ufeff") or "\n", False
        if not movetext:
            if line[0] == "[":
                tags.append(line)
                blanks = 0
                continue
            if line[0] in "%;":
                continue
            if line.isspace():
                blanks += 1
                if tags and blanks == 2:  # headers and no moves at all
                    yield RawGame(tuple(tags), ())
                    tags, blanks = [], 0
                continue
        elif not in_comment:
            if line.isspace():
                yield RawGame(tuple(tags), tuple(movetext))
                tags, movetext, blanks = [], [], 0
                continue
            if line[0] in "%;":
                continue
        movetext.append(line)
        if in_comment or "{" in line:
            in_comment = _ends_in_comment(line, in_comment)
    if tags or movetext:
        yield RawGame(tuple(tags), tuple(movetext))


def _ends_in_comment(line: str, in_comment: bool) -> bool:
    for match in _BRACES.finditer(line):
        token = match.group(0)
        if token == "{":
            in_comment = True
        elif token == "}":
            in_comment = False
        elif not in_comment:  # a rest-of-line comment
            break
    return in_comment


def strange_word(movetext: str) -> str | None:
    """The first word outside comments and variations that seems a move and is none, such as one in another language.

    python-chess passes over such words, or reads a part of them: of the German Sf3 the pawn's move f3.
    """
    text = _ASIDE.sub(" ", movetext)
    while "(" in text and (shorter := _VARIATION.sub(" ", text)) != text:
        text = shorter
    words = (word for word in re.split(r"[\s.]+", text) if not _WORD.fullmatch(word))
    return next((word for word in words if any(map(str.isdigit, word))), None)  # every move but castling has a rank


def main_line(game: RawGame) -> MainLine:
    """The moves of a game of standard chess; raises Broken with a reason."""
    if strange_word("".join(game.movetext)):
        raise Broken("unreadable move")
    line = chess.pgn.read_game(io.StringIO(game.text), Visitor=_MainLineReader)
    if line is None or not line.moves:
        raise Broken("no moves")
    return line


class _MainLineReader(chess.pgn.BaseVisitor[MainLine]):
    """Keeps the main line only: no tree, no comments, no variations."""

    def __init__(self) -> None:
        self.start: chess.Board | None = None
        self.moves: list[chess.Move] = []

    def visit_board(self, board: chess.Board) -> None:
        if self.start is None:
            if board.uci_variant != "chess" or board.chess960:
                raise Broken("variant")
            if not board.is_valid():
                raise Broken("bad start position")
            self.start = board.copy(stack=False)

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move:
            raise Broken("null move")
        self.moves.append(move)

    def handle_error(self, error: Exception) -> None:
        if isinstance(error, chess.IllegalMoveError):
            raise Broken("illegal move")
        if isinstance(error, chess.AmbiguousMoveError):
            raise Broken("ambiguous move")
        if isinstance(error, chess.InvalidMoveError):
            raise Broken("unreadable move")
        raise Broken("variant" if "variant" in str(error) else "bad start position")

    def result(self) -> MainLine:
        return MainLine(self.start or chess.Board(), tuple(self.moves))
