"""Pictures of what an agent expects: agents side by side with their lines, and the strip of predicted boards.

They show the thought that the page shows, with its numbers, words and colours: arrow 1 is the move itself, the side
that thinks is blue, the other side amber, what is illegal or wrong red. Boards and pieces are SVG from python-chess,
put together without touching its inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import chess
import chess.svg

from diffusearch.play.schemas import LinePly, Thought
from diffusearch.play.thoughts import LONGEST

OWN, FOE, BAD = "#3f4fc4", "#b45309", "#b42318"  # as in the page's style (web/src/style)
WRONG = "#d21e1480"
BOARD = {
    "square light": "#efece1", "square dark": "#a3b596",
    "square light lastmove": "#e7d993", "square dark lastmove": "#bbb968",
    "margin": "#ffffff", "coord": "#5f6058",
}  # fmt: skip
SIZE = 380  # of a board with its coordinates, in pixels
STRIP_SIZE = 220
UNITS, MARGIN, CELL = 390, 15, 45  # python-chess draws a board of so many units: coordinates around eight squares
HEAD = 34  # room above a board for its title
GAP = 16


@dataclass(frozen=True)
class Arrow:
    """One move of a line; its number says when it comes."""

    source: chess.Square
    target: chess.Square
    number: int
    colour: str


def arrows_of(line: Sequence[LinePly]) -> list[Arrow]:
    """The moves of a line, as many as are shown."""
    moves = [chess.Move.from_uci(ply.uci) for ply in line[:LONGEST]]
    return [
        Arrow(move.from_square, move.to_square, number, _colour(number, ply))
        for number, (move, ply) in enumerate(zip(moves, line, strict=False), start=1)
    ]


def case_picture(board: chess.Board, thoughts: Mapping[str, Thought], caption: str = "") -> str:
    """One board an agent, by its name: its move and the line that it expects as numbered arrows."""
    parts = []
    for place, (name, thought) in enumerate(thoughts.items()):
        x = GAP + place * (SIZE + GAP)
        chance = "" if thought.value is None else f", {percent(thought.value)} win chance"
        parts.append(_text(x, 22, f"{name}: {thought.san}{chance}", bold=True))
        last = board.peek() if board.move_stack else None
        check = board.king(board.turn) if board.is_check() else None
        drawn = chess.svg.board(
            board, orientation=board.turn, lastmove=last, check=check, size=SIZE, coordinates=True, colors=BOARD
        )
        parts.append(_placed(drawn, x, HEAD))
        parts.append(_overlay(arrows_of(thought.line), board.turn, x, HEAD))
    width = GAP + len(thoughts) * (SIZE + GAP)
    height = HEAD + SIZE + (28 if caption else GAP)
    if caption:
        parts.append(_text(GAP, height - 8, caption))
    return _sheet(width, height, parts, f"{len(thoughts)} agents in {board.fen()}")


def strip_picture(thought: Thought) -> str:
    """The boards of a line in a row: what the agent expects after each move, and what is wrong with it."""
    side = chess.WHITE if thought.turn == "white" else chess.BLACK
    shown = list(thought.line[:LONGEST])
    while shown and shown[-1].squares is None:
        shown.pop()  # nothing is predicted after this move
    parts = []
    for number, ply in enumerate(shown, start=1):
        x = GAP + (number - 1) * (STRIP_SIZE + GAP)
        parts.append(_disc(x + 9, 17, number, _colour(number, ply)))
        parts.append(_text(x + 24, 22, ply.san or ply.uci, bold=True))
        parts.append(_placed(_predicted_board(ply, side), x, HEAD))
        words = verdict(ply)
        parts.append(_text(x, HEAD + STRIP_SIZE + 18, words, colour=BAD, size=12) if words else "")
    width = GAP + max(1, len(shown)) * (STRIP_SIZE + GAP)
    return _sheet(width, HEAD + STRIP_SIZE + 30, parts, f"predicted from {thought.root}")


def percent(share: float) -> str:
    """A probability in the page's words."""
    return f"{math.floor(100 * share + 0.5)} %"


def verdict(ply: LinePly) -> str:
    """What is wrong about a predicted ply, in the page's words; nothing if all is right."""
    if not ply.legal:
        return "illegal move"
    if ply.wrong:
        return f"{len(ply.wrong)} {'square' if len(ply.wrong) == 1 else 'squares'} wrong"
    return ply.problem or ""


def _colour(number: int, ply: LinePly) -> str:
    if not ply.legal:
        return BAD
    return OWN if number % 2 else FOE


def _predicted_board(ply: LinePly, side: chess.Color) -> str:
    board = chess.BaseBoard.empty()  # it may be a position that the rules do not allow
    for place, letter in enumerate(ply.squares or ""):
        if letter in "PNBRQKpnbrqk":
            board.set_piece_at(chess.SQUARES_180[place], chess.Piece.from_symbol(letter))
    return chess.svg.board(
        board,
        orientation=side,
        lastmove=chess.Move.from_uci(ply.uci),
        fill={chess.parse_square(name): WRONG for name in ply.wrong},
        size=STRIP_SIZE,
        coordinates=True,
        colors=BOARD,
    )


def _overlay(arrows: Sequence[Arrow], side: chess.Color, left: float, top: float) -> str:
    """Arrows with their numbers; those that come first are wider and lie on top."""

    def middle(square: chess.Square) -> tuple[float, float]:
        file, rank = chess.square_file(square), chess.square_rank(square)
        column, row = (file, 7 - rank) if side else (7 - file, rank)
        scale = SIZE / UNITS
        return left + scale * (MARGIN + CELL * (column + 0.5)), top + scale * (MARGIN + CELL * (row + 0.5))

    shafts: list[str] = []
    discs: list[str] = []
    taken: set[tuple[int, int]] = set()
    for arrow in arrows:
        start, end = middle(arrow.source), middle(arrow.target)
        shafts.append(_shaft(start, end, arrow))
        share = 0.62
        while True:
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            if (place := (round(x / 18), round(y / 18))) not in taken or share <= 0.2:
                break
            share -= 0.14  # beside a number that is already there
        taken.add(place)
        discs.append(_disc(x, y, arrow.number, arrow.colour))
    return "".join([*reversed(shafts), *discs])


def _shaft(start: tuple[float, float], end: tuple[float, float], arrow: Arrow) -> str:
    (x, y), (to_x, to_y) = start, end
    long = math.hypot(to_x - x, to_y - y)
    along = ((to_x - x) / long, (to_y - y) / long)
    width = max(3.0, 9.0 - arrow.number)
    head = 2.2 * width
    x, y = x + 12 * along[0], y + 12 * along[1]  # pixels: the piece that moves stays to be seen
    neck = to_x - head * along[0], to_y - head * along[1]
    wings = [(neck[0] - s * width * along[1], neck[1] + s * width * along[0]) for s in (1, -1)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in [end, *wings])
    line = f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{neck[0]:.1f}" y2="{neck[1]:.1f}" stroke-width="{width:g}"/>'
    shape = f'{line}<polygon points="{points}" stroke="none"/>'
    return f'<g stroke="{arrow.colour}" fill="{arrow.colour}" opacity="0.75">{shape}</g>'


def _disc(x: float, y: float, number: int, colour: str) -> str:
    disc = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{colour}" stroke="white" stroke-width="1.5"/>'
    return disc + _text(x, y + 4, str(number), bold=True, colour="white", anchor="middle", size=12)


def _placed(svg: str, x: float, y: float) -> str:
    """An SVG from python-chess as a part of a larger one."""
    start = svg.index("<svg ")
    return f'<svg x="{x:g}" y="{y:g}" {svg[start + 5 :]}'


def _text(
    x: float, y: float, words: str, bold: bool = False, colour: str = "#23241f", anchor: str = "start", size: int = 14
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    style = f'font-family="sans-serif" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def _sheet(width: float, height: float, parts: Sequence[str], title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">'
    )
    paper = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", paper, *parts, "</svg>"]) + "\n"
