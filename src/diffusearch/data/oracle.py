"""The oracle: an engine that gives the best action of a state, its value and the scores of its actions.

An answer depends only on the position and the budget (one thread, hash cleared before each search). So the same input
gives the same labels on every run and with any number of workers, unless the budget is in seconds.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import chess

from diffusearch.data.scores import Score
from diffusearch.data.uci_process import Analysis, EngineFault, EngineProcess, SearchBudget
from diffusearch.errors import UserError

KEPT = 20_000  # analyses in memory: the line of a record often goes through later positions of the same game


@dataclass(frozen=True)
class OracleSettings:
    """The engine and its options."""

    engine: str  # path
    budget: SearchBudget  # of a search; for each legal move where all are scored
    extend: SearchBudget  # of the cheaper searches that extend a short principal variation
    hash_mb: int = 16
    timeout: float = 60.0  # seconds for one search, beyond those of its budget, before the engine counts as hung

    def __post_init__(self) -> None:
        if self.hash_mb < 1:
            raise UserError(f"--hash {self.hash_mb} is too small; give 1 or more")
        if not 0 < self.timeout < math.inf:
            what = "too small" if self.timeout <= 0 else "no finite number"
            raise UserError(f"--timeout {self.timeout:g} is {what}; give more than 0")

    @property
    def options(self) -> dict[str, int | str]:
        return {"Threads": 1, "Hash": self.hash_mb}


@dataclass(frozen=True)
class Answer:
    """The result of a search; scores are from the side to move's view."""

    best: chess.Move
    score: Score
    line: tuple[chess.Move, ...]  # legal, starts with the best move
    nodes: int
    actions: dict[str, Score] = field(default_factory=dict)  # UCI -> score, the best move first; empty unless asked for


class Oracle:
    """An engine process that starts with the first search, and again after a fault."""

    def __init__(self, settings: OracleSettings) -> None:
        self.settings = settings
        self._engine: EngineProcess | None = None
        self._analyses: OrderedDict[tuple[str, SearchBudget], Analysis] = OrderedDict()

    def ask(self, board: chess.Board, budget: SearchBudget, length: int = 1) -> Answer:
        """Best action and value, with a line of at most `length` moves; raises EngineFault."""
        key = board.fen(), budget
        analysis = self._analyses.get(key) or self._search(board, budget, 1)
        try:
            answer = _answer(board, analysis, length)
        except EngineFault:
            self.close()
            raise
        if budget.seconds is None:
            self._analyses[key] = analysis
            if len(self._analyses) > KEPT:
                self._analyses.popitem(last=False)
        return answer

    def ask_all(self, board: chess.Board, budget: SearchBudget, length: int = 1) -> Answer:
        """The same with the score of every legal action; the budget is for each of them."""
        legal = {move.uci() for move in board.legal_moves}
        analysis = self._search(board, budget.times(len(legal)), len(legal))
        try:
            answer = _answer(board, analysis, length)
            scores = {variation.moves[0]: variation.score for variation in analysis.variations}
            if set(scores) != legal:
                raise EngineFault("did not score every action")
        except EngineFault:
            self.close()
            raise
        # The engine's move comes first even where another move has a higher score from a smaller depth.
        ranked = sorted(scores, key=lambda move: (move != analysis.best, -scores[move].order()))
        return replace(answer, actions={move: scores[move] for move in ranked})

    def ask_best(self, board: chess.Board, budget: SearchBudget, count: int, length: int = 1) -> Answer:
        """The same with the scores of the best `count` actions, all from one search (MultiPV) with the one budget.

        The oracle's action comes first, then the others by depth and rank. Each score is the last exact one of its
        move; a search that is cut off may have scored the later moves at a smaller depth.
        """
        legal = {move.uci() for move in board.legal_moves}
        analysis = self._search(board, budget, min(count, len(legal)), exact=True)
        try:
            answer = _answer(board, analysis, length)
            scores = {v.moves[0]: v.score for v in analysis.variations if v.moves[0] in legal}
            if analysis.best not in scores:
                raise EngineFault("did not score its move")
        except EngineFault:
            self.close()
            raise
        ranked = sorted(scores, key=lambda move: move != analysis.best)[:count]  # stable: the order stays
        nodes = max(variation.nodes for variation in analysis.variations)
        return replace(answer, nodes=nodes, actions={move: scores[move] for move in ranked})

    def describe(self) -> dict[str, Any]:
        """The name of the engine with its version, and the options that were set."""
        engine = self._running()
        return {"name": engine.name, "options": engine.options}

    def close(self) -> None:
        """End the engine process; the next search starts a new one."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> EngineProcess:
        if self._engine is None:
            self._engine = EngineProcess(self.settings.engine, self.settings.options, self.settings.timeout)
        return self._engine

    def _search(self, board: chess.Board, budget: SearchBudget, multipv: int, exact: bool = False) -> Analysis:
        try:
            return self._running().search(board.fen(), budget, multipv, exact)
        except EngineFault:
            self.close()
            raise


def _answer(board: chess.Board, analysis: Analysis, length: int) -> Answer:
    if not analysis.variations:
        raise EngineFault("no score")
    first = next((v for v in analysis.variations if v.moves[0] == analysis.best), analysis.variations[0])
    line = _legal_prefix(board, (analysis.best,), 1)
    if not line:
        raise EngineFault("no bestmove" if analysis.best == "(none)" else f"illegal move {analysis.best}")
    if first.moves[0] == analysis.best:
        line = _legal_prefix(board, first.moves, length)
    return Answer(line[0], first.score, line, first.nodes)


def _legal_prefix(board: chess.Board, moves: tuple[str, ...], length: int) -> tuple[chess.Move, ...]:
    """The moves before the first illegal one; a hash collision may put such a move at the end of a variation."""
    board, legal = board.copy(stack=False), []
    for text in moves[:length]:
        try:
            move = board.parse_uci(text)
        except ValueError:
            break
        legal.append(move)
        board.push(move)
    return tuple(legal)
