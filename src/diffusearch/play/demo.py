"""The demo: a puzzle in the terminal, the agent's move, the line it predicts, and the drafts or the denoising steps."""

from __future__ import annotations

import chess
from rich.console import Console

from diffusearch.agents.base import Agent
from diffusearch.errors import UserError
from diffusearch.inference.imagination import letters
from diffusearch.play.puzzles import PagePuzzle, puzzles
from diffusearch.play.terminal import beside, board_lines, film_frames, imagined_boards, summary
from diffusearch.play.thoughts import thought_of

FIRST = 31  # the puzzle that is shown unless another is asked for: the drafts find a sacrifice


def chosen(number: int) -> PagePuzzle:
    """A packaged puzzle by its number, from 1, easiest first."""
    every = puzzles()
    if not 1 <= number <= len(every):
        raise UserError(f"there is no puzzle {number}; choose 1 to {len(every)} with --puzzle")
    return every[number - 1]


def show(agent: Agent, number: int, console: Console) -> None:
    """One puzzle from the position to the solution."""
    puzzle = chosen(number)
    board = chess.Board(puzzle.fen)
    side = "White" if board.turn else "Black"
    console.print(f"Puzzle {number}, rated about {puzzle.rating}: {side} to move.\n{puzzle.fen}\n", highlight=False)
    console.print(beside([board_lines(letters(board), "the position")]))

    thought = thought_of(agent.name, board, agent.play(board))
    frames = film_frames(thought.film)
    if frames:
        console.print("\nDenoising (? is still masked):", highlight=False)
    for frame in frames[:-1]:  # the last one is what is shown next, with its mistakes marked
        console.print(frame)
        console.print()
    console.print("\nWhat the agent predicts (! marks a wrong square):", highlight=False)
    console.print(imagined_boards(thought.line))
    console.print()
    for line in summary(thought):
        console.print(line, highlight=False, markup=False)
    verdict = "the agent finds its first move" if puzzle.right([thought.move]) else "the agent plays another move"
    console.print(f"solution  {' '.join(puzzle.san())}: {verdict}", highlight=False, markup=False)
