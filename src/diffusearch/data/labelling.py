"""Labels the positions of a shard: the work of one worker, on any machine.

A row depends only on the position, the options and (for random-world) the other positions of its shard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from diffusearch.data import future_policies
from diffusearch.data.future_policies import Future
from diffusearch.data.oracle import Answer, Oracle, OracleSettings
from diffusearch.data.root_positions import RootPosition
from diffusearch.data.uci_process import EngineFault, SearchBudget
from diffusearch.errors import UserError

FUTURES = ("relabel", "pv", "random", "random-world", "played")
Row = dict[str, Any]  # column -> value, see shards.SCHEMA

# After so many failures in a row the engine is at fault, not the positions.
MAX_FAILURES = 20


@dataclass(frozen=True)
class LabelSettings:
    """The options that decide the label of a position."""

    future: str = "relabel"
    horizon: int = 4
    actions: bool = False  # score every legal action of the root, with the budget for each of them
    seed: int = 0
    oracle: OracleSettings | None = None  # None only for `played`
    multipv: int = 1  # above 1: score so many actions of the root, all from its one search


class FailureCount:
    """The positions in a row on which an engine failed, over the borders of shards; too many are a UserError."""

    def __init__(self, engine: str) -> None:
        self._engine, self._failures = engine, 0

    def add(self, row: Row) -> None:
        """Count the row of the next position."""
        self._failures = self._failures + 1 if row["failed"] else 0
        if self._failures == MAX_FAILURES:
            raise UserError(
                f"the engine {self._engine} failed on {MAX_FAILURES} positions in a row "
                f"({row['failed']}); try it by hand or give another with --engine, then run the same command again"
            )


class Labeller:
    """Labels shards one after the other with one engine process."""

    def __init__(self, settings: LabelSettings) -> None:
        self.settings = settings
        self._oracle = Oracle(settings.oracle) if settings.oracle else None
        self._failures = FailureCount(settings.oracle.engine) if settings.oracle else None

    def __enter__(self) -> Labeller:
        return self

    def __exit__(self, *_: object) -> None:
        if self._oracle is not None:
            self._oracle.close()

    def label(self, positions: Sequence[RootPosition]) -> Iterator[Row]:
        """One row for each position, in order. An engine fault is retried once, then recorded in the row."""
        if self._oracle is None or self._failures is None:
            for position in positions:
                yield _row(position, self.settings, None, future_policies.played(position))
            return
        others = [position.fen for position in positions]
        for position in positions:
            try:
                row = _attempt(position, self.settings, self._oracle, others)
            except EngineFault:
                try:
                    row = _attempt(position, self.settings, self._oracle, others)
                except EngineFault as fault:
                    row = _row(position, self.settings, None, Future(), failed=str(fault))
            self._failures.add(row)
            yield row


def _attempt(position: RootPosition, settings: LabelSettings, oracle: Oracle, others: Sequence[str]) -> Row:
    board = chess.Board(position.fen)
    budget: SearchBudget = oracle.settings.budget

    def ask(root: chess.Board) -> Answer:
        if settings.actions:
            return oracle.ask_all(root, budget, settings.horizon)
        if settings.multipv > 1:
            return oracle.ask_best(root, budget, settings.multipv, settings.horizon)
        return oracle.ask(root, budget, settings.horizon)

    # Each position has its own generator, so that a draw does not depend on the order of labelling.
    generator = random.Random(f"{settings.seed} {position.fen}")
    if settings.future == "relabel":
        answer, future = future_policies.relabel(board, settings.horizon, ask, oracle)
    elif settings.future == "pv":
        answer, future = future_policies.principal_variation(board, settings.horizon, ask, oracle)
    elif settings.future == "random":
        answer, future = future_policies.random_policy(board, settings.horizon, ask, generator)
    else:
        answer, future = future_policies.random_world(board, settings.horizon, ask, generator, others)
    return _row(position, settings, answer, future)


def _row(
    position: RootPosition, settings: LabelSettings, answer: Answer | None, future: Future, failed: str | None = None
) -> Row:
    actions = answer.actions if answer else {}
    return {
        "fen": position.fen,
        "line": " ".join(move.uci() for move in future.line),
        "cp": answer.score.cp if answer else None,
        "mate": answer.score.mate if answer else None,
        "nodes": answer.nodes if answer else 0,
        "pool": position.pool,
        "game": position.game,
        "ply": position.ply,
        "played": position.played,
        "split": position.split,
        "rating": position.rating,
        "future": settings.future,
        "ended": future.ended,
        "values": " ".join(map(str, future.values)) if future.values else None,
        "actions": " ".join(f"{move}:{score}" for move, score in actions.items()) or None,
        "states": future.states or None,
        "failed": failed,
    }
