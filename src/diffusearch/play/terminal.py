"""A decision in the terminal: boards side by side, candidates as bars, the denoising as a few frames.

The same `Thought` that the page draws. Every mark is a character as well as a colour: `?` is a masked square, and `!`
stands after a square that the predicted board has wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import chess
from rich.console import Group, RenderableType
from rich.text import Text

from diffusearch.play.schemas import FilmFrame, LinePly, Thought

FRAMES = 4  # of the film, the last included
_FIGURES = chess.UNICODE_PIECE_SYMBOLS | {".": "·", "?": "?"}
_GAP = "   "
_BAR = 20  # characters of a certain move


def board_lines(squares: str, caption: str, wrong: Collection[str] = ()) -> list[Text]:
    """A caption and eight ranks, White below, from 64 characters that begin with a8."""
    lines = [Text(f"{caption:<16}"[:16], style="bold")]
    for row in range(8):
        line = Text()
        for file in range(8):
            letter = squares[8 * row + file]
            bad = chess.square_name(chess.square(file, 7 - row)) in wrong
            style = "bold red" if bad else "dim" if letter in ".?" else "bold" if letter.isupper() else "cyan"
            line.append(_FIGURES[letter] + ("!" if bad else " "), style)
        lines.append(line)
    return lines


def beside(boards: Sequence[list[Text]]) -> Group:
    """Boards next to each other."""
    return Group(*(Text(_GAP).join(row) for row in zip(*boards, strict=True)))


def named(ply: LinePly) -> str:
    """A ply's move as a player writes it; one that cannot be played where it stands is in brackets."""
    return ply.san or f"({ply.uci})"


def numbered(line: Iterable[LinePly], root: chess.Board) -> str:
    """The line with move numbers: 12. Nf3 Nc6 13. Bb5."""
    words, number, white = [], root.fullmove_number, root.turn
    for place, ply in enumerate(line):
        if white or place == 0:
            words.append(f"{number}." if white else f"{number}...")
        words.append(named(ply))
        number, white = number + (not white), not white
    return " ".join(words)


def summary(thought: Thought) -> list[str]:
    """The agent, its move, the line, the value and the likeliest moves, as lines of text."""
    line = numbered(thought.line, chess.Board(thought.root))
    lines = [f"agent     {thought.agent}", f"move      {thought.san} ({thought.move})", f"line      {line}"]
    lines += drift(thought.line)
    if thought.value is not None:
        lines.append(f"value     {thought.value:.0%} for {thought.turn}")
    for place, candidate in enumerate(thought.candidates):
        bar = "█" * round(_BAR * candidate.probability)
        lines.append(f"{'' if place else 'moves':<9} {candidate.san:<7} {candidate.probability:>6.1%} {bar}".rstrip())
    return lines + drafts_read(thought)


def drift(line: Iterable[LinePly]) -> list[str]:
    """The first predicted board that does not follow from its move: later moves stand on it."""
    for ply in line:
        if ply.wrong:
            squares = f"{len(ply.wrong)} wrong {'square' if len(ply.wrong) == 1 else 'squares'}"
            return [f"          the board predicted after {named(ply)} has {squares}; moves after it may be impossible"]
    return []


def drafts_read(thought: Thought) -> list[str]:
    """The drafted moves: probability before and after they were read, win chance as read, and the drafted line."""
    if thought.look_ahead is None or thought.look_ahead.by != "drafts":
        return []
    lines = []
    for place, one in enumerate(thought.look_ahead.candidates):
        after = 0.0 if one.probability is None else one.probability
        win = "" if one.score is None else f"win {one.score:.0%}"
        words = " ".join(move.san for move in one.line)
        lines.append(
            f"{'' if place else 'drafts':<9} {one.san:<7} {one.prior:>6.1%} -> {after:>6.1%}  {win:<8} {words}"
        )
    return lines


def imagined_boards(line: Sequence[LinePly]) -> RenderableType:
    """The predicted boards, each under the move that leads to it."""
    boards = [board_lines(ply.squares, f"after {named(ply)}", ply.wrong) for ply in line if ply.squares is not None]
    return beside(boards) if boards else Text("(this agent predicts no boards)")


def film_frames(film: Sequence[FilmFrame], count: int = FRAMES) -> list[RenderableType]:
    """A few frames of the denoising, evenly spaced, without the first (all masked) and with the last."""
    if len(film) < 2:
        return []
    last = len(film) - 1
    chosen = sorted({max(1, round(last * (place + 1) / count)) for place in range(count)})
    return [_frame(film[index], last) for index in chosen]


def _frame(frame: FilmFrame, last: int) -> RenderableType:
    moves = "  ".join("????" if move is None else "end" if move == "0000" else move for move in frame.moves)
    head = Text(f"step {frame.step} of {last}    moves: {moves}", style="bold")
    boards = [board_lines(squares, f"board {place}") for place, squares in enumerate(frame.squares, start=1)]
    return Group(head, beside(boards)) if boards else head
