"""Scores of moves for the GUI: every line of MultiPV has one, and with `searchmoves` it is that of the move.

A search knows what each of its candidates is worth. An agent that only knows the value of a position is asked about
the positions after the moves; these evaluations are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.search.outcome import value_after

FIRST_LOOK = Limits(steps=1, nodes=20, seconds=0.05, line=False)


def filled(
    board: chess.Board, decisions: Sequence[Decision], allowed: tuple[chess.Move, ...], lines: int
) -> list[Decision]:
    """`lines` decisions: the agent's own, then further moves that it looked into, then the next likeliest."""
    out = list(decisions[:lines])
    first = out[0]
    if first.look_ahead is not None:
        for one in first.look_ahead.candidates:
            if len(out) < lines and one.move not in {decision.move for decision in out}:
                line = one.line or (one.move,)
                out.append(Decision(one.move, first.probabilities, line, one.score, look_ahead=first.look_ahead))
    shown = {decision.move for decision in out}
    rest = [move for move in (allowed or tuple(board.legal_moves)) if move not in shown]
    rest.sort(key=lambda move: -first.probabilities.get(move, 0.0))
    return out + [Decision(move, first.probabilities, (move,)) for move in rest[: lines - len(out)]]


def scored(
    agent: Agent, board: chess.Board, decisions: Sequence[Decision], engine: bool = False
) -> tuple[list[Decision], int]:
    """The decisions with the value of each move, and the number of evaluations that this took.

    The values of an `engine` are those of its moves. Nothing is added where the agent gives no values.
    """
    asked = [number for number, decision in enumerate(decisions) if not _knows_its_move(decision, engine)]
    if not asked or decisions[0].value is None:
        return list(decisions), 0
    out = list(decisions)
    ahead: list[tuple[int, chess.Board]] = []
    for number in asked:
        move = out[number].move
        known = value_after(board, move)  # where the move ends the game
        if known is not None:
            out[number] = replace(out[number], value=known)
        else:
            after = board.copy()
            after.push(move)
            ahead.append((number, after))
    replies = agent.play_many([after for _, after in ahead], FIRST_LOOK) if ahead else []
    for (number, _), reply in zip(ahead, replies, strict=True):
        value = None if reply.value is None else 1.0 - reply.value
        out[number] = replace(out[number], value=value)
    return out, sum(reply.nodes for reply in replies)


def _knows_its_move(decision: Decision, engine: bool) -> bool:
    """Whether the value is that of the move, not of the position: where a search scored it, or an engine."""
    if decision.look_ahead is not None:
        return any(one.move == decision.move and one.score is not None for one in decision.look_ahead.candidates)
    return engine and decision.value is not None
