"""Pictures of hard puzzles with the move and line of every agent (the paper's Figures 5 to 7).

`reproduce all` takes the hardest puzzles that the package has of its own making, so that the page contains none of the
test data; `reproduce cases` takes those of the user's file.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import chess

from diffusearch.files import write_whole
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.jobs import MeasureJob
from diffusearch.reproduce.plan import Setting


def players(exhibits: dict[str, Exhibit], setting: Setting) -> list[MeasureJob]:
    """The agents that are drawn."""
    return [MeasureJob(row, "cases", setting) for row in exhibits["cases"].rows]


def drawn(setting: Setting) -> list[Path]:
    """The pictures, if all are there."""
    files = [setting.pages / "img" / f"reproduction-case-{number}.svg" for number in range(1, setting.cases + 1)]
    return files if all(file.is_file() for file in files) else []


def draw(texts: dict[str, str], setting: Setting) -> None:
    """Draw the hardest packaged puzzles, one for each number of moves first; `texts` has the agents by label."""
    from diffusearch.play.puzzles import puzzles

    hard = sorted(puzzles(), key=lambda puzzle: -puzzle.rating)[: setting.cases]
    chosen = [(puzzle.fen, f"rated about {puzzle.rating}; solution {' '.join(puzzle.solution)}") for puzzle in hard]
    files = [setting.pages / "img" / f"reproduction-case-{number}.svg" for number in range(1, len(chosen) + 1)]
    draw_boards(texts, [(chess.Board(fen), caption) for fen, caption in chosen], files)


def draw_boards(texts: dict[str, str], boards: list[tuple[chess.Board, str]], files: list[Path]) -> None:
    """One picture for each board and its caption."""
    from diffusearch.agents.build import agent as build
    from diffusearch.play.pictures import case_picture
    from diffusearch.play.thoughts import thought_of

    with ExitStack() as stack:
        agents = {label: stack.enter_context(build(text)) for label, text in texts.items()}
        for (board, caption), file in zip(boards, files, strict=True):
            thoughts = {label: thought_of(label, board, player.play(board)) for label, player in agents.items()}
            write_whole(file, case_picture(board, thoughts, caption))
