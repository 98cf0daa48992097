"""How good an imagined future is: the paper's table of valid and best moves, valid states, and true transitions.

For future step i of the oracle's line, over the records whose line reaches it:
- valid a_i: the imagined move is legal in the imagined state s_i (for i = 0 in the root);
- best a_i: it is the move that the oracle plays there; for i = 0 this is action accuracy;
- valid s_i: the imagined state is a position that the rules allow (s_0 is given and not counted);
- match a_{i-1}-s_i: s_i is exactly what a_{i-1} makes of s_{i-1}.
A model that says "game over" has not the oracle's move there, and neither a valid move nor valid states from there
on, unless its last imagined state has no legal move indeed: then nothing could follow and nothing is counted.
With the legality mask on, a_0 is legal by force: `raw_legal` says how often it would have been without.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import chess

from diffusearch.agents.base import Agent, Limits
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import BATCH, Progress, decide, raw_legality, silent
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.labelled_positions import LabelledPosition
from diffusearch.inference.imagination import Imagination, Ply


def future_quality(
    agent: Agent,
    positions: Sequence[LabelledPosition],
    limits: Limits = Limits(),
    batch: int = BATCH,
    progress: Progress = silent,
) -> dict[str, Any]:
    """The figures of `eval futures`; `accuracy` is best a_0. `best` is null where positions carry no oracle line."""
    started = time.perf_counter()
    decisions = decide(agent, [position.board() for position in positions], limits, batch, progress)
    seconds = time.perf_counter() - started
    imagined: list[Imagination] = []
    for decision in decisions:
        if decision.imagination is None:
            raise UserError(
                f"The agent {agent.name!r} imagines no future: measure a diffusion or future-predicting run."
            )
        imagined.append(decision.imagination)
    horizon = max(agent.horizon, *(len(one.line) for one in imagined))
    acts = _acts(imagined)
    steps = [_step(i, imagined, positions, acts or i == 0) for i in range(horizon)]
    first = steps[0]["best"] or {"n": len(positions), "accuracy": None, "interval": None}
    return {**first, "horizon": horizon, "steps": steps, "legality": raw_legality(imagined), "seconds": seconds}


def _step(i: int, imagined: Sequence[Imagination], positions: Sequence[LabelledPosition], acts: bool) -> dict[str, Any]:
    """One row of the table; `acts`: whether the model imagines a move at this step at all."""
    valid: list[bool] = []
    best: list[bool] = []
    states: list[bool] = []
    matches: list[bool] = []
    with_states = any(_has_state(ply) for one in imagined for ply in one.line)  # futures of moves alone have none
    for one, position in zip(imagined, positions, strict=True):
        reach = len(position.line) if position.line else i + 1  # how far the oracle's line goes
        nothing_follows = len(one.line) <= i and _ended(one)
        if 0 < i <= reach and with_states and (len(one.line) >= i or not nothing_follows):
            before = one.line[i - 1] if len(one.line) >= i else None
            states.append(before is not None and before.state is not None)
            matches.append(before is not None and before.follows)
        if i >= reach or not acts:
            continue
        ply = one.line[i] if i < len(one.line) else None
        if not nothing_follows:
            valid.append(ply is not None and ply.move is not None and ply.legal)
        if position.line:
            best.append(ply is not None and ply.move == position.line[i])
    return {
        "step": i,
        "valid_action": Share.of(valid).to_json() if valid else None,
        "best": Share.of(best).to_json() if best else None,
        "valid_state": Share.of(states).to_json() if states else None,
        "match": Share.of(matches).to_json() if matches else None,
    }


def _acts(imagined: Sequence[Imagination]) -> bool:
    """Whether the model imagines moves after the first one; s-ass imagines states alone there."""
    later = [ply.move for one in imagined for ply in one.line[1:]]
    return not later or any(move is not None for move in later)


def _has_state(ply: Ply) -> bool:
    """Whether a state was imagined after this ply, valid or not."""
    return ply.state is not None or ply.squares is not None or ply.problem is not None


def _ended(one: Imagination) -> bool:
    """Whether the last imagined state leaves no legal move: the model's "game over" is right where it stands."""
    last = one.line[-1].state if one.line else one.root
    return last is not None and not any(chess.Board(last).legal_moves)


def random_positions(count: int, seed: int, plies: tuple[int, int] = (8, 80)) -> list[LabelledPosition]:
    """Positions of uniformly random legal games, without labels.

    They are out of distribution on purpose: a model that knows only common positions of human games fails here.
    """
    generator = random.Random(seed)
    positions: list[LabelledPosition] = []
    while len(positions) < count:
        board = chess.Board()
        for _ in range(generator.randint(*plies)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if any(board.legal_moves):
            positions.append(LabelledPosition(board.fen(), ()))
    return positions
