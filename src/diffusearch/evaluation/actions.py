"""Action accuracy: how often an agent plays what the oracle plays (the paper's first metric)."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.labelled_positions import LabelledPosition
from diffusearch.evaluation.row_log import PositionRow, RowLog, answer_of

BATCH = 256  # positions a call of play_many; agents cut it further to what their network likes
WITHIN = (10, 50, 200)  # centipawns that a decision may cost and still count as near-best
MOVES_ONLY = Limits(line=False)  # accuracy needs the move alone, not the line after it
Progress = Callable[[int], None]  # told how many positions were done since the last call


def silent(_: int) -> None:
    """Report no progress."""


def decide(
    agent: Agent,
    boards: Sequence[chess.Board],
    limits: Limits = Limits(),
    batch: int = BATCH,
    progress: Progress = silent,
) -> list[Decision]:
    """Decisions for unrelated boards in batches; every move is checked to be legal, unless the agent has no mask."""
    decisions: list[Decision] = []
    masked = getattr(getattr(agent, "decoding", None), "legal", True)
    for start in range(0, len(boards), batch):
        part = boards[start : start + batch]
        answers = agent.play_many(part, limits)
        if len(answers) != len(part):
            raise RuntimeError(f"{agent.name} answered {len(answers)} of {len(part)} positions")
        for board, answer in zip(part, answers, strict=True):
            if masked and not board.is_legal(answer.move):
                raise RuntimeError(f"{agent.name} played the illegal move {answer.move.uci()} in {board.fen()}")
        decisions.extend(answers)
        progress(len(part))
    return decisions


def action_accuracy(
    agent: Agent,
    positions: Sequence[LabelledPosition],
    limits: Limits = MOVES_ONLY,
    batch: int = BATCH,
    progress: Progress = silent,
    log: RowLog | None = None,
) -> dict[str, Any]:
    """The figures of `eval actions`: overall, by phase, by rating where known, near-best where values exist.

    With a log each batch is on the disk before the next; rows that the log has already are not decided again.
    """
    rows = log.done([position.fen for position in positions]) if log else []
    resumed = len(rows)
    if resumed:
        progress(resumed)
    started = time.perf_counter()
    for start in range(resumed, len(positions), batch):
        part = positions[start : start + batch]
        decisions = decide(agent, [position.board() for position in part], limits, batch, progress)
        new = [action_row(*pair) for pair in zip(part, decisions, strict=True)]
        if log:
            log.append(new)
        rows += new
    seconds = time.perf_counter() - started

    by_phase: dict[str, list[bool]] = defaultdict(list)
    by_rating: dict[str, list[bool]] = defaultdict(list)
    for row, position in zip(rows, positions, strict=True):
        by_phase[position.phase].append(row.right)
        if position.rating is not None:
            by_rating[rating_band(position.rating)].append(row.right)
    return {
        **Share.of(row.right for row in rows).to_json(),
        "by_phase": {name: Share.of(by_phase[name]).to_json() for name in sorted(by_phase)},
        "by_rating": {name: Share.of(by_rating[name]).to_json() for name in sorted(by_rating)} or None,
        "within_centipawns": near_best(positions, rows),
        "legality": raw_legality(rows),
        "evaluations": sum(row.evaluations for row in rows) / len(rows),
        "seconds": seconds,
        "resumed": resumed,
    }


def action_row(position: LabelledPosition, decision: Decision) -> PositionRow:
    """What an agent decided in a labelled position."""
    answer = answer_of(decision)
    right = answer["move"] == position.action
    return PositionRow(id=position.fen, fen=position.fen, answer=position.action, right=right, **answer)


def rating_band(rating: int, width: int = 200) -> str:
    """The band of a rating, with leading zeros so that names sort."""
    low = rating // width * width
    return f"{low:04d}-{low + width - 1:04d}"


def near_best(positions: Sequence[LabelledPosition], rows: Sequence[PositionRow]) -> dict[str, Any] | None:
    """Share of decisions that cost at most 10, 50, 200 centipawns; None where no file searched every action.

    A mate lies beyond all centipawns: missing it costs more than 200, another mate for it does not. An illegal move
    (`legal=off`) has no score: it costs more than anything.
    """
    losses = [
        max(position.scores.values()) - position.scores.get(row.move, -math.inf)
        for position, row in zip(positions, rows, strict=True)
        if position.scores
    ]
    if not losses:
        return None
    return {str(cp): Share.of(loss <= cp for loss in losses).to_json() for cp in WITHIN}


class Unmasked(Protocol):
    """What is known of a move without the legality mask: a PositionRow or an Imagination."""

    @property
    def raw_legal(self) -> bool | None: ...

    @property
    def legal_mass(self) -> float | None: ...


def raw_legality(rows: Sequence[Unmasked]) -> dict[str, Any] | None:
    """What the legality mask hides: how often the unmasked first choice is legal. None for agents without it."""
    raw = [row.raw_legal for row in rows if row.raw_legal is not None]
    mass = [row.legal_mass for row in rows if row.legal_mass is not None]
    if not raw and not mass:
        return None
    return {
        "raw": Share.of(raw).to_json() if raw else None,
        "mean_legal_mass": sum(mass) / len(mass) if mass else None,
    }
