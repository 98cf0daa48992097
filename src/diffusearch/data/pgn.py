"""PGN as a stream of games: split the text, read the headers, and parse the moves of wanted games only.

The splitter follows python-chess's rules for where a game ends (a blank line outside a comment). python-chess reads
the moves of the main line. A game whose main line cannot be read raises Broken with a reason; the caller counts it.
Time and memory are linear in the length of the text, and the length of a game is bounded: the text may come from
strangers.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import chess
import chess.pgn

from diffusearch.data.movetext import Broken, main_words, strange_among, strange_word
from diffusearch.fen import HIGHEST

__all__ = ["Broken", "MainLine", "RawGame", "first_game", "main_line", "read_moves", "split", "strange_word"]

GAME_CHARACTERS = 1 << 20  # headers, moves and comments of one game
GAME_PLIES = 4000  # the longest games of engines have about 1,200

_TAG = re.compile(r'^\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"([^\r]*)"\]\s*$')
_BRACES = re.compile(r"[;{}]")


@dataclass(frozen=True, slots=True)
class RawGame:
    """The lines of one game, not yet parsed."""

    tags: tuple[str, ...]
    movetext: tuple[str, ...]
    cut: bool = False  # the game is longer than GAME_CHARACTERS: the rest of it was skipped

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
    size = 0  # characters of the game
    blanks = 0  # consecutive blank lines after a tag
    in_comment = False
    first = True
    for line in lines:
        if first:
            line, first = line.lstrip("\ufeff") or "\n", False
        if not movetext:
            if line[0] == "[":
                size += len(line)
                if size <= GAME_CHARACTERS:
                    tags.append(line)
                blanks = 0
                continue
            if line[0] in "%;":
                continue
            if line.isspace():
                blanks += 1
                if tags and blanks == 2:  # headers and no moves at all
                    yield RawGame(tuple(tags), (), size > GAME_CHARACTERS)
                    tags, size, blanks = [], 0, 0
                continue
        elif not in_comment:
            if line.isspace():
                yield RawGame(tuple(tags), tuple(movetext), size > GAME_CHARACTERS)
                tags, movetext, size, blanks = [], [], 0, 0
                continue
            if line[0] in "%;":
                continue
        size += len(line)
        if size <= GAME_CHARACTERS or not movetext:
            movetext.append(line)
        if in_comment or "{" in line:
            in_comment = _ends_in_comment(line, in_comment)
    if tags or movetext:
        yield RawGame(tuple(tags), tuple(movetext), size > GAME_CHARACTERS)


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


def main_line(game: RawGame) -> MainLine:
    """The moves of a game of standard chess; raises Broken, also where there is no move."""
    line = read_moves(game)
    if not line.moves:
        raise Broken("no moves")
    return line


def read_moves(game: RawGame) -> MainLine:
    """The moves of a game of standard chess, maybe none; raises Broken."""
    if game.cut:
        raise Broken("game too long")
    words = main_words("".join(game.movetext))
    if word := strange_among(words):
        raise Broken("unreadable move", word)
    # The point keeps python-chess from taking the first word for a tag pair or an escaped line.
    text = "".join(game.tags) + "\n. " + words + "\n"
    line = chess.pgn.read_game(io.StringIO(text), Visitor=_MainLineReader)
    assert line is not None  # the point is a game
    return line


def first_game(text: str) -> tuple[dict[str, str], MainLine]:
    """Headers and main line of the first game of a text that a stranger wrote; raises Broken.

    The moves may be none: a text without any move or header gives no headers and no moves.
    """
    raw = next(split(io.StringIO(text)), RawGame((), ()))
    return raw.headers(), read_moves(raw)


class _MainLineReader(chess.pgn.BaseVisitor[MainLine]):
    """Collects the main line only, without a tree of nodes."""

    def __init__(self) -> None:
        self.start: chess.Board | None = None
        self.moves: list[chess.Move] = []

    def visit_board(self, board: chess.Board) -> None:
        if self.start is None:
            if board.uci_variant != "chess" or board.chess960:
                raise Broken("variant", board.uci_variant or "")
            if not board.is_valid() or max(board.halfmove_clock, board.fullmove_number) > HIGHEST:
                raise Broken("bad start position", board.fen())
            self.start = board.copy(stack=False)

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move:
            raise Broken("null move")
        if len(self.moves) == GAME_PLIES:
            raise Broken("game too long")
        self.moves.append(move)

    def handle_error(self, error: Exception) -> None:
        detail = str(error)
        if isinstance(error, chess.IllegalMoveError):
            raise Broken("illegal move", detail)
        if isinstance(error, chess.AmbiguousMoveError):
            raise Broken("ambiguous move", detail)
        if isinstance(error, chess.InvalidMoveError):
            raise Broken("unreadable move", detail)
        raise Broken("variant" if "variant" in detail else "bad start position", detail)

    def result(self) -> MainLine:
        return MainLine(self.start or chess.Board(), tuple(self.moves))
