"""The principal line of a fan: the chosen move, and behind it what both players are expected to play.

Whoever is to move goes by the score by which the first move was chosen (judging.py). The fan has imagined these states
already, so the line costs nothing as far as the fan reaches; behind it the model imagines the rest turn by turn. The
fan follows only moves that are legal in the state where they are played, so all its moves are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import chess
import torch

from diffusearch.agents.fan import State
from diffusearch.agents.imagining import Imaginer
from diffusearch.agents.judging import scores
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Ply
from diffusearch.diffusion.reading import ply_of


@dataclass(frozen=True)
class Line:
    """A line and what it took."""

    plies: tuple[Ply, ...] = ()
    log_probability: float = 0.0
    onward: chess.Board | None = None  # the state that it can go on from; None: it ends here
    held: chess.Move | None = None  # a first move that the fan did not follow: it goes on from the root, with this move
    calls: int = 0  # of the network, beside those of the fan


def follow(root: State, first: chess.Move, trust: float, horizon: int) -> Line:
    """The line as far as the fan holds it, `horizon` plies at most; like all lines it has no state behind the last.

    Of a first move that was drawn by lot and that the fan did not follow, it is that move alone.
    """
    if first not in root.futures:
        alone = ply_of(root.board, first.uci(), None, None, None)
        return Line((alone,), math.log(max(root.shares[first], 1e-300)), root.board, first)
    line, state, move = Line(), root, first
    for ply in range(horizon):
        line = _with(line, state, move, last=ply == horizon - 1)
        future = state.futures[move]
        if future is None or future.over:
            return line
        if not future.futures:
            return replace(line, onward=future.board if ply < horizon - 1 else None)
        state, move = future, expected(future, trust)
    return line


def expected(state: State, trust: float) -> chess.Move:
    """What is played in a state of which moves were followed."""
    return list(state.futures)[int(scores(state, trust).argmax())]


def further(
    net: Imaginer, lines: Sequence[Line], decoding: Decoding, generator: torch.Generator | None, horizon: int
) -> list[Line]:
    """The lines, imagined on to `horizon` plies or as far as `decoding.steps` reach."""
    out = list(lines)
    onward = replace(decoding, order="turns", film=False)
    for held in (False, True):  # the others that go on are all as long as the fan
        going = [at for at, line in enumerate(lines) if line.onward and (line.held is not None) == held]
        if not going:
            continue
        boards = [board for at in going if (board := lines[at].onward)]
        legal = [[move] for at in going if (move := lines[at].held)] if held else None
        known = 0 if held else len(lines[going[0]].plies)
        behind = net.imagine(boards, onward, generator, legal, horizon - known)
        for at, one in zip(going, behind, strict=True):
            likelihood = lines[at].log_probability + one.log_probability
            out[at] = Line(lines[at].plies[:known] + one.line, likelihood, calls=one.steps)
    return out


def _with(line: Line, state: State, move: chess.Move, last: bool) -> Line:
    """A line with one more ply; the `last` has no state behind it."""
    assert state.seen is not None
    imagined, likelihood = state.seen.states[move], math.log(max(state.seen.shares[move], 1e-300))
    if last:
        ply = ply_of(state.board, move.uci(), None, None, None)
    else:
        squares = imagined.squares if imagined.board is None else "".join(str(imagined.board).split())
        ply = ply_of(state.board, move.uci(), imagined.board, imagined.problem, squares)
        likelihood += imagined.log_probability
    plies = (*line.plies, replace(ply, value=state.seen.value))
    return Line(plies, line.log_probability + likelihood)
