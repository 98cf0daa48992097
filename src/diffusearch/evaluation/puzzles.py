"""Lichess puzzles: reading them and solving them, the paper's second metric.

A row's FEN stands before the opponent's setup move; the solver must then find every other move. Strict: the
whole solution, move by move. Mate-tolerant: lichess's own rule, a move that mates at once solves the puzzle too.
"""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from diffusearch.agents.base import Agent, Limits
from diffusearch.data.streams import DAMAGE, open_text, read_table
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import BATCH, MOVES_ONLY, Progress, decide, rating_band, silent
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.puzzle_rating import puzzle_rating
from diffusearch.evaluation.row_log import PositionRow, RowLog, answer_of
from diffusearch.evaluation.rows import chosen

COLUMNS = ("PuzzleId", "FEN", "Moves", "Rating", "Themes")


@dataclass(frozen=True)
class LichessPuzzle:
    """One puzzle as lichess publishes it."""

    id: str
    fen: str  # before the setup move
    moves: tuple[str, ...]  # UCI: setup, solution, reply, solution, ...; an even number
    rating: int
    themes: tuple[str, ...]

    def board(self) -> chess.Board:
        """The position to solve, with the setup move on its stack."""
        board = chess.Board(self.fen)
        board.push_uci(self.moves[0])
        return board


def read_puzzles(path: Path, limit: int | None = None, seed: int | None = None, skip: int = 0) -> list[LichessPuzzle]:
    """The puzzles of a CSV file, plain or packed: all, or those that are chosen (rows.py)."""
    if not path.is_file():
        raise UserError(f"There is no puzzle file at {path}: give a lichess CSV (plain or packed) with --data.")
    try:
        with open_text(str(path)) as text:
            rows = read_table(text, str(path), COLUMNS)
            puzzles = chosen((_puzzle(row, f"{path}, line {line}") for line, row in rows), limit, seed, skip)
    except (*DAMAGE, csv.Error) as error:
        raise UserError(f"{path} is not a readable puzzle file ({error}): download it again.") from error
    if not puzzles:
        raise UserError(f"{path} holds no puzzle behind row {skip}: give a smaller --skip, or a file with more rows.")
    return puzzles


def _puzzle(row: dict[str, str], place: str) -> LichessPuzzle:
    try:
        moves = tuple(row["Moves"].split())
        puzzle = LichessPuzzle(
            row["PuzzleId"], row["FEN"], moves, int(row["Rating"]), tuple((row["Themes"] or "").split())
        )
        board = chess.Board(puzzle.fen)
        for move in moves:
            board.push_uci(move)  # ValueError where it is not legal
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{place}: {error}: correct or drop the row.") from error
    if not moves or len(moves) % 2:
        raise UserError(f"{place}: {len(moves)} moves, but setup and solution make an even number: correct the row.")
    return puzzle


def solve(
    agent: Agent,
    puzzles: Sequence[LichessPuzzle],
    limits: Limits = MOVES_ONLY,
    batch: int = BATCH,
    progress: Progress = silent,
) -> list[PositionRow]:
    """Play all puzzles together, one solver's move a round, so that every round is one batch."""
    rows: dict[int, PositionRow] = {}
    first: dict[int, dict[str, Any]] = {}  # the answer to the first position of each puzzle
    boards = [puzzle.board() for puzzle in puzzles]
    alive = list(range(len(puzzles)))
    turn = 1  # index of the solver's move in `moves`
    while alive:
        decisions = decide(agent, [boards[i] for i in alive], limits, batch)
        left: list[int] = []
        for i, decision in zip(alive, decisions, strict=True):
            moves, board = puzzles[i].moves, boards[i]
            found = (turn - 1) // 2
            if turn == 1:
                first[i] = {"id": puzzles[i].id, "fen": board.fen(), "answer": moves[1], **answer_of(decision)}
            else:
                first[i]["evaluations"] += decision.nodes
            if decision.move.uci() != moves[turn]:
                legal = board.is_legal(decision.move)  # not always where `legal=off` takes the mask away
                if legal:
                    board.push(decision.move)
                tolerant = legal and board.is_checkmate()
                rows[i] = PositionRow(**first[i], right=False, mate_tolerant=tolerant, found=found)
            elif turn == len(moves) - 1:
                rows[i] = PositionRow(**first[i], right=True, mate_tolerant=True, found=found + 1)
            else:
                board.push_uci(moves[turn])
                board.push_uci(moves[turn + 1])
                left.append(i)
        progress(len(alive) - len(left))
        alive, turn = left, turn + 2
    return [rows[i] for i in range(len(puzzles))]


def puzzle_accuracy(
    agent: Agent,
    puzzles: Sequence[LichessPuzzle],
    limits: Limits = MOVES_ONLY,
    batch: int = BATCH,
    progress: Progress = silent,
    log: RowLog | None = None,
) -> dict[str, Any]:
    """The figures of `eval puzzles`: both rules overall, strict by rating band and theme, a rating estimate.

    With a log the puzzles are solved in groups of a batch, and each group is on the disk before the next.
    """
    rows = log.done([puzzle.id for puzzle in puzzles]) if log else []
    resumed = len(rows)
    if resumed:
        progress(resumed)
    started = time.perf_counter()
    group = batch if log else len(puzzles)
    for start in range(resumed, len(puzzles), group):
        new = solve(agent, puzzles[start : start + group], limits, batch, progress)
        if log:
            log.append(new)
        rows += new
    seconds = time.perf_counter() - started
    tolerant = Share.of(bool(row.mate_tolerant) for row in rows)

    bands: dict[str, list[PositionRow]] = defaultdict(list)
    themes: dict[str, list[PositionRow]] = defaultdict(list)
    for puzzle, row in zip(puzzles, rows, strict=True):
        bands[rating_band(puzzle.rating)].append(row)
        for theme in puzzle.themes:
            themes[theme].append(row)
    return {
        **Share.of(row.right for row in rows).to_json(),
        "accuracy_mate_tolerant": tolerant.accuracy,
        "interval_mate_tolerant": list(tolerant.interval),
        "first_move": Share.of(row.move == row.answer for row in rows).to_json(),
        "by_rating": {name: _both(bands[name]) for name in sorted(bands)},
        "by_theme": {name: _both(themes[name]) for name in sorted(themes)},
        "rating": puzzle_rating([puzzle.rating for puzzle in puzzles], [bool(row.mate_tolerant) for row in rows]),
        "seconds": seconds,
        "resumed": resumed,
    }


def _both(rows: Sequence[PositionRow]) -> dict[str, Any]:
    tolerant = Share.of(bool(row.mate_tolerant) for row in rows)
    return {**Share.of(row.right for row in rows).to_json(), "accuracy_mate_tolerant": tolerant.accuracy}
