"""How good an imagined future is: the paper's table of valid and best moves, valid states, and true transitions.

For future step i of the oracle's line, over the records whose line reaches it:
- valid a_i: the imagined move is legal in the imagined state s_i (for i = 0 in the root);
- best a_i: it is the move that the oracle plays there; for i = 0 this is action accuracy;
- valid s_i: the imagined state is a position that the rules allow (s_0 is given and not counted);
- match a_{i-1}-s_i: s_i is exactly what a_{i-1} makes of s_{i-1}.
A model that says "game over" where the oracle still moves has neither a valid nor the best move there.
With the legality mask on, a_0 is legal by force: `raw_legal` says how often it would have been without.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import chess

from diffusearch.agents.base import Agent, Limits
from diffusearch.diffusion.imagination import Imagination, Ply
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import BATCH, Progress, decide, raw_legality, silent
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.positions import Position


def future_quality(
    agent: Agent,
    positions: Sequence[Position],
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
    horizon = max(len(one.line) for one in imagined)
    steps = [_step(i, imagined, positions) for i in range(horizon)]
    first = steps[0]["best"] or {"n": len(positions), "accuracy": None, "interval": None}
    return {**first, "horizon": horizon, "steps": steps, "legality": raw_legality(decisions), "seconds": seconds}


def _step(i: int, imagined: Sequence[Imagination], positions: Sequence[Position]) -> dict[str, Any]:
    """One row of the table."""
    valid: list[bool] = []
    best: list[bool] = []
    states: list[bool] = []
    matches: list[bool] = []
    for one, position in zip(imagined, positions, strict=True):
        labelled = bool(position.line)
        before = one.line[i - 1] if 0 < i <= len(one.line) else None
        if before and _has_state(before) and (not labelled or len(position.line) >= i):
            states.append(before.state is not None)
            matches.append(before.follows)
        if i >= len(one.line) or (labelled and i >= len(position.line)):
            continue  # nothing imagined there, or the oracle's game is over
        ply = one.line[i]
        valid.append(ply.move is not None and ply.legal)
        if labelled:
            best.append(ply.move == position.line[i])
    return {
        "step": i,
        "valid_action": Share.of(valid).to_json(),
        "best": Share.of(best).to_json() if best else None,
        "valid_state": Share.of(states).to_json() if states else None,
        "match": Share.of(matches).to_json() if matches else None,
    }


def _has_state(ply: Ply) -> bool:
    """Whether a state was imagined after this ply at all, valid or not (futures of moves alone have none)."""
    return ply.state is not None or ply.squares is not None or ply.problem is not None


def random_positions(count: int, seed: int, plies: tuple[int, int] = (8, 80)) -> list[Position]:
    """Positions of uniformly random legal games, without labels.

    Boards of human games are easy to imagine by habit; here only the rules help (out of distribution on purpose).
    """
    dice = random.Random(seed)
    positions: list[Position] = []
    while len(positions) < count:
        board = chess.Board()
        for _ in range(dice.randint(*plies)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(dice.choice(moves))
        if any(board.legal_moves):
            positions.append(Position(board.fen(), ()))
    return positions
