"""Pictures of hard puzzles with the move and line of every agent (the paper's Figures 5 to 7).

`reproduce all` takes the hardest puzzles that the package has of its own making, so that the page contains none of the
test data; `reproduce cases` takes those of the user's file.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import chess

from diffusearch.files import write_whole
from diffusearch.play.puzzles import PagePuzzle, puzzles
from diffusearch.reproduce import trained
from diffusearch.reproduce.digests import digest, recipe_digest
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.jobs import MeasureJob
from diffusearch.reproduce.kept import Kept, read_kept, write_kept
from diffusearch.reproduce.plan import Setting


def players(exhibit: Exhibit, setting: Setting) -> list[MeasureJob]:
    """The agents that are drawn."""
    return [MeasureJob(row, "cases", setting) for row in exhibit.rows]


def kept(exhibit: Exhibit, setting: Setting) -> Kept | None:
    """What is known of the pictures of these agents and puzzles, if all are there."""
    found = read_kept(_file(setting))
    there = found and found["digest"] == _digest(exhibit, setting) and all(file.is_file() for file in files(setting))
    return found if there else None


def files(setting: Setting) -> list[Path]:
    """Where the pictures are."""
    return [
        setting.pages / "img" / f"reproduction-case-{number}.svg" for number in range(1, len(_hardest(setting)) + 1)
    ]


def draw(exhibit: Exhibit, setting: Setting) -> None:
    """Draw the hardest packaged puzzles with what every agent makes of them."""
    jobs, hard = players(exhibit, setting), _hardest(setting)
    boards = [
        (chess.Board(puzzle.fen), f"rated about {puzzle.rating}; solution {' '.join(puzzle.solution)}")
        for puzzle in hard
    ]
    draw_boards({job.row.label: job.text() for job in jobs}, boards, files(setting))
    runs = {trained.named(run): trained.about(run, setting) for job in jobs for run in job.row.runs}
    about = {"agent": [job.agent for job in jobs], "digest": _digest(exhibit, setting), "runs": runs}
    write_kept(_file(setting), "cases", {"puzzles": [puzzle.fen for puzzle in hard]}, [], about)


def _hardest(setting: Setting) -> list[PagePuzzle]:
    return sorted(puzzles(), key=lambda puzzle: -puzzle.rating)[: setting.cases]


def _digest(exhibit: Exhibit, setting: Setting) -> str:
    each = [[job.agent, *(recipe_digest(run, setting) for run in job.row.runs)] for job in players(exhibit, setting)]
    return digest(["cases", each, [puzzle.fen for puzzle in _hardest(setting)]])


def _file(setting: Setting) -> Path:
    return setting.results / "cases.json"


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
