"""A book of openings for tournaments: random legal plies that an engine finds level, from a seed.

A book is a text file, one opening a line as UCI moves, with the way it was made in '#' lines on top. The package
carries one (openings.txt), so that tournaments on two machines start from the same positions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import chess

from diffusearch.errors import UserError

Opening = tuple[str, ...]
Judge = Callable[[chess.Board], float]  # win probability of the side to move


def make_openings(
    count: int,
    seed: int,
    judge: Judge,
    plies: int = 8,
    margin: float = 0.05,
    tries: int = 1000,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Opening]:
    """`count` openings of `plies` random moves, no position twice, each judged within `margin` of one half.

    Gives up after `tries` draws for each opening wanted.
    """
    generator = random.Random(seed)
    openings: list[Opening] = []
    seen: set[str] = set()
    for _ in range(tries * count):
        if len(openings) == count:
            return openings
        board = _random_board(generator, plies)
        if board is None or board.epd() in seen or board.is_check():
            continue
        seen.add(board.epd())
        if abs(judge(board) - 0.5) <= margin:
            openings.append(tuple(move.uci() for move in board.move_stack))
            progress(1)
    raise UserError(f"Only {len(openings)} of {count} openings were level within {margin}: allow a larger margin.")


def _random_board(generator: random.Random, plies: int) -> chess.Board | None:
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return None
        board.push(generator.choice(moves))
    return board if any(board.legal_moves) else None


def book_text(openings: list[Opening], remarks: list[str]) -> str:
    """The file's content."""
    lines = [f"# {remark}" for remark in remarks] + [" ".join(opening) for opening in openings]
    return "\n".join(lines) + "\n"


def read_book(path: Path | None = None) -> list[Opening]:
    """The openings of a book file; without a path, those inside the package."""
    name = str(path) if path else "the package's openings.txt"
    try:
        text = (path or files(__package__).joinpath("openings.txt")).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{name} cannot be read ({error}): make a book with `diffusearch openings`.") from error
    openings = list(_parse(text, name))
    if not openings:
        raise UserError(f"{name} holds no opening: make a book with `diffusearch openings`.")
    return openings


def _parse(text: str, name: str) -> Iterator[Opening]:
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        board = chess.Board()
        try:
            for word in words:
                board.push_uci(word)
        except ValueError as error:
            raise UserError(f"{name}, line {number}: {error}: correct or drop the line.") from error
        if board.is_game_over():
            raise UserError(f"{name}, line {number}: the opening ends the game: drop the line.")
        twin = seen.setdefault(board.epd(), number)
        if twin != number:
            raise UserError(f"{name}, line {number}: the same position as in line {twin}: drop one of them.")
        yield tuple(words)
