"""Turn by turn: each imagined state becomes the root of the next ply.

How a position came about does not matter in chess, so a future can be imagined one ply at a time: a move and the state
it leads to are denoised together, the board is turned to the side that is to move there, and what was the future is
the root. Every imagined move is then chosen with all that the model knows about roots, and valued as a root is. The
states are imagined, not calculated: nothing tells the model what its move does to the board, nor, behind the true
root, which moves are legal. A line ends where no valid state was imagined, or where nobody can move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import chess

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Frame, Imagination, Ply
from diffusearch.diffusion.roots import Allowed

Imagine = Callable[[Sequence[chess.Board], Decoding, Allowed | None, int], list[Imagination]]  # the int: a horizon

T = TypeVar("T")
_CALLS = 2  # network calls a ply: its move, and the state that follows
_MASKED = "?" * 64


def by_turns(
    imagine: Imagine, boards: Sequence[chess.Board], decoding: Decoding, legal: Allowed | None, horizon: int
) -> list[Imagination]:
    """One imagination a board, `horizon` plies deep or as deep as `decoding.steps` reach.

    `imagine` denoises records of at most two plies.
    """
    horizon = min(horizon, (decoding.steps + _CALLS - 1) // _CALLS) if decoding.line else 1
    ply_wise = replace(decoding, order="plies", steps=_CALLS)
    futures: list[list[Imagination]] = [[] for _ in boards]  # of each board, the imaginations of its turns
    going = list(enumerate(boards))
    for turn in range(horizon):
        here = replace(ply_wise, legal=decoding.legal and turn == 0)
        near = 1 if turn == horizon - 1 else 2
        found = imagine([board for _, board in going], here, legal if turn == 0 else None, near)
        for (index, _), one in zip(going, found, strict=True):
            if turn == 0 or one.line[0].move is not None:
                futures[index].append(one)
        going = [(index, board) for index, _ in going if (board := _next(futures[index], turn)) is not None]
        if not going:
            break
    return [_joined(turns, horizon, decoding) for turns in futures]


def _next(turns: Sequence[Imagination], turn: int) -> chess.Board | None:
    """The state from which the next turn is imagined, if there is one in which a move can be made."""
    state = turns[turn].line[0].state if len(turns) > turn else None
    board = None if state is None else chess.Board(state)
    return board if board is not None and any(board.legal_moves) else None


def _joined(turns: Sequence[Imagination], horizon: int, decoding: Decoding) -> Imagination:
    """The turns of one future as one imagination: the first one's decision, everybody's plies."""
    line = tuple(replace(one.line[0], value=one.value) for one in turns)
    return replace(
        turns[0],
        line=line,
        film=_film(turns, line, horizon) if decoding.film else (),
        log_probability=sum(one.log_probability for one in turns),
        steps=sum(one.steps for one in turns),
        evaluations=sum(one.nodes for one in turns),
    )


def _film(turns: Sequence[Imagination], line: Sequence[Ply], horizon: int) -> tuple[Frame, ...]:
    """The films of the turns, one after another, each behind what was fixed before it."""
    hidden = Frame(0, (None,) * horizon, (_MASKED,) * (horizon - 1))
    frames = [hidden]
    for turn, one in enumerate(turns):
        moves = tuple(ply.move for ply in line[:turn])
        squares = tuple(ply.squares or _MASKED for ply in line[:turn])
        for before, frame in pairwise(one.film):
            if frame.moves[0] == before.moves[0] and frame.squares[:1] == before.squares[:1]:
                continue  # what it fixed lies beyond this turn
            shown = (*moves, frame.moves[0]), (*squares, *frame.squares[:1])
            frames.append(Frame(len(frames), _filled(shown[0], hidden.moves), _filled(shown[1], hidden.squares)))
    return tuple(frames)


def film_of(line: Sequence[Ply], horizon: int) -> tuple[Frame, ...]:
    """The film of a line that was denoised move by move and state by state, made afterwards."""
    moves: tuple[str | None, ...] = (None,) * horizon
    squares = (_MASKED,) * (horizon - 1)
    frames = [Frame(0, moves, squares)]
    for turn, ply in enumerate(line):
        moves = (*moves[:turn], ply.move, *moves[turn + 1 :])
        frames.append(Frame(len(frames), moves, squares))
        if ply.squares is not None and turn < horizon - 1:
            squares = (*squares[:turn], ply.squares, *squares[turn + 1 :])
            frames.append(Frame(len(frames), moves, squares))
    return tuple(frames)


def _filled(shown: tuple[T, ...], hidden: tuple[T, ...]) -> tuple[T, ...]:
    return shown + hidden[len(shown) :]
