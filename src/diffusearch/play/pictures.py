"""Pictures of what an agent thinks: the paper's case study, agents side by side, and the strip of imagined boards.

Colours as in the paper: the next move blue, then the mover's own imagined moves light blue and the opponent's red, each
with its number. A move that is not legal where it is imagined is grey; squares that an imagined board has wrong are
tinted. Everything is SVG from python-chess, put together without touching its inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import chess
import chess.svg

from diffusearch.agents.base import Decision
from diffusearch.inference.imagination import Imagination, Ply

NEXT, MINE, THEIRS, ILLEGAL, WRONG = "#1f5fd0", "#7fb8f0", "#d8453a", "#8a8a8a", "#ff3b3099"
SIZE = 360  # of a board, in pixels
STRIP_SIZE = 220
SQUARE = SIZE / 8
HEAD = 34  # room above a board for its title
GAP = 16


@dataclass(frozen=True)
class Step:
    """One move to draw: number 0 is the move to be played."""

    move: chess.Move
    legal: bool


def steps_of(decision: Decision) -> list[Step]:
    """The moves that an agent imagines (or its principal line), up to the end of its game."""
    if decision.imagination is None:
        return [Step(move, True) for move in decision.line or (decision.move,)]
    steps: list[Step] = []
    for ply in decision.imagination.line:
        if ply.move is None:
            break
        steps.append(Step(chess.Move.from_uci(ply.move), ply.legal))
    return steps


def case_picture(board: chess.Board, decisions: Mapping[str, Decision], caption: str = "") -> str:
    """The case study: one board an agent, with its next move and its imagined line as numbered arrows."""
    parts = []
    for place, (title, decision) in enumerate(decisions.items()):
        x = GAP + place * (SIZE + GAP)
        steps = steps_of(decision)
        words = _san(board, decision.move)
        if decision.value is not None:
            words += f", win {100 * decision.value:.0f} %"
        parts.append(_text(x, 22, f"{title}: {words}", bold=True))
        parts.append(_placed(_arrows_board(board, steps), x, HEAD))
        parts += [_counter(board, step, number, x, HEAD) for number, step in enumerate(steps) if number]
    width = GAP + len(decisions) * (SIZE + GAP)
    height = HEAD + SIZE + (28 if caption else GAP)
    if caption:
        parts.append(_text(GAP, height - 8, caption))
    return _sheet(width, height, parts, f"{len(decisions)} agents in {board.fen()}")


def strip_picture(imagination: Imagination) -> str:
    """The imagined boards in a row: the root, then what the model believes after each of its moves."""
    root = chess.Board(imagination.root)
    side = root.turn
    parts = [_text(GAP, 22, "now", bold=True), _placed(_plain_board(root, side, ()), GAP, HEAD)]
    count = 1
    for number, ply in enumerate(imagination.line):
        if ply.squares is None and ply.state is None:
            break  # nothing is imagined after this move
        x = GAP + count * (STRIP_SIZE + GAP)
        board = chess.BaseBoard(ply.state.split()[0]) if ply.state else _loose_board(ply.squares or "")
        parts.append(_text(x, 22, f"{number + 1}. {ply.move or 'game over'}", bold=True))
        parts.append(_placed(_plain_board(board, side, ply.wrong, ply.move), x, HEAD))
        colour = "#333333" if ply.follows else THEIRS
        parts.append(_text(x, HEAD + STRIP_SIZE + 18, _verdict(ply), colour=colour, size=12))
        count += 1
    return _sheet(GAP + count * (STRIP_SIZE + GAP), HEAD + STRIP_SIZE + 30, parts, f"imagined from {imagination.root}")


def _verdict(ply: Ply) -> str:
    """What is right or wrong about an imagined ply, in a few words."""
    if not ply.legal and ply.move is not None:
        return "the move is not legal here"
    if ply.state is None:
        return f"no valid position: {ply.problem or 'unknown'}"
    if not ply.follows:
        return f"{len(ply.wrong)} squares are not the move's result" if ply.wrong else "differs beside the squares"
    return "follows from the move"


def _san(board: chess.Board, move: chess.Move) -> str:
    return board.san(move) if board.is_legal(move) else move.uci()


def _colour(number: int, step: Step) -> str:
    if not step.legal:
        return ILLEGAL
    return NEXT if number == 0 else THEIRS if number % 2 else MINE


def _arrows_board(board: chess.Board, steps: Sequence[Step]) -> str:
    arrows = [
        chess.svg.Arrow(step.move.from_square, step.move.to_square, color=_colour(number, step))
        for number, step in reversed(list(enumerate(steps)))  # the next move is drawn last, on top
    ]
    last = board.peek() if board.move_stack else None
    return chess.svg.board(
        board, orientation=board.turn, arrows=arrows, lastmove=last, size=SIZE, coordinates=False, check=_checked(board)
    )


def _checked(board: chess.Board) -> chess.Square | None:
    return board.king(board.turn) if board.is_check() else None


def _plain_board(board: chess.BaseBoard, side: chess.Color, wrong: Iterable[int], move: str | None = None) -> str:
    arrows = []
    if move is not None:
        made = chess.Move.from_uci(move)
        arrows.append(chess.svg.Arrow(made.from_square, made.to_square, color="#00000040"))
    return chess.svg.board(
        board, orientation=side, fill=dict.fromkeys(wrong, WRONG), arrows=arrows, size=STRIP_SIZE, coordinates=False
    )


def _loose_board(squares: str) -> chess.BaseBoard:
    """A board out of 64 characters from a8, whether it obeys the rules or not."""
    board = chess.BaseBoard.empty()
    for index, letter in enumerate(squares):
        if letter in "PNBRQKpnbrqk":
            board.set_piece_at(chess.SQUARES_180[index], chess.Piece.from_symbol(letter))
    return board


def _counter(board: chess.Board, step: Step, number: int, left: float, top: float) -> str:
    """The number of an imagined move, in a disc at the middle of its arrow."""
    ends = (step.move.from_square, step.move.to_square)
    files = [chess.square_file(square) if board.turn else 7 - chess.square_file(square) for square in ends]
    ranks = [7 - chess.square_rank(square) if board.turn else chess.square_rank(square) for square in ends]
    x = left + (sum(files) / 2 + 0.5) * SQUARE
    y = top + (sum(ranks) / 2 + 0.5) * SQUARE
    disc = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{_colour(number, step)}" stroke="white" stroke-width="1.5"/>'
    return disc + _text(x, y + 4, str(number), bold=True, colour="white", anchor="middle", size=12)


def _placed(svg: str, x: float, y: float) -> str:
    """An SVG from python-chess as a part of a larger one."""
    start = svg.index("<svg ")
    return f'<svg x="{x:g}" y="{y:g}" {svg[start + 5 :]}'


def _text(
    x: float, y: float, words: str, bold: bool = False, colour: str = "#222222", anchor: str = "start", size: int = 14
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
