"""Players whose answers are known beforehand, and small files to measure them on."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chess
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import zstandard

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.inference.imagination import Imagination


def key(board: chess.Board) -> str:
    return board.epd()


class Table(Agent):
    """Plays what a table says for a position and the first legal move elsewhere; remembers its batch sizes."""

    def __init__(self, answers: dict[str, str], imaginations: dict[str, Imagination] | None = None) -> None:
        self.name = "table"
        self.answers = answers
        self.imaginations = imaginations or {}
        self.batches: list[int] = []
        self.stacks: list[int] = []
        self.runs: dict[str, Any] = {}

    @property
    def provenance(self) -> dict[str, Any]:
        return self.runs

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        self.stacks.append(len(board.move_stack))
        said = self.answers.get(key(board))
        move = chess.Move.from_uci(said) if said else next(iter(board.legal_moves))
        return Decision(move, {move: 1.0}, imagination=self.imaginations.get(key(board)))

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        self.batches.append(len(boards))
        return [self.play(board, limits) for board in boards]


class Random(Agent):
    def __init__(self, seed: int = 0) -> None:
        self.name = "random"
        self.random = random.Random(seed)

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        move = self.random.choice(list(board.legal_moves))
        return Decision(move, {move: 1.0})


LABELLED = [  # fen, oracle's line: an opening, a middlegame, two endgames (the second is a mate in one)
    ("rnbqkb1r/ppp1pp1p/5np1/3p4/2PP4/2N1P3/PP3PPP/R1BQKBNR b KQkq - 0 4", "f8g7 g1f3 e8g8 c4d5"),
    ("r1bq2k1/pp3pp1/2p2n1p/8/3P4/2PQPN1P/P5P1/R5K1 b - - 0 18", "c8e6 e3e4 a8c8 a1b1"),
    ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 60", "e3d3 e5d5 e2e3 d5e5"),
    ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8"),
]

PUZZLES = [  # the FEN stands before the setup move
    # back-rank mate in one; b1b8 mates as well as d1d8
    {
        "PuzzleId": "two",
        "FEN": "6k1/4rppp/8/8/8/8/8/1R1R2K1 b - - 0 1",
        "Moves": "e7a7 d1d8",
        "Rating": "600",
        "Themes": "mateIn1 short",
    },
    # a line of two solver's moves: win the rook with check, then take the pawn
    {
        "PuzzleId": "long",
        "FEN": "7k/1p4pp/8/3r4/8/8/8/Q5K1 b - - 0 1",
        "Moves": "d5c5 a1a8 c5c8 a8c8",
        "Rating": "1500",
        "Themes": "crushing",
    },
]


@pytest.fixture
def labelled(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str = "labels-test.parquet", rows: list[tuple[str, str]] | None = None, **columns: Any) -> Path:
        rows = LABELLED if rows is None else rows
        count = len(rows)
        table: dict[str, Any] = {"fen": [fen for fen, _ in rows], "line": [line for _, line in rows]}
        table |= {
            "cp": [0] * count,
            "mate": pa.nulls(count, pa.int16()),
            "nodes": [1] * count,
            "pool": ["mine"] * count,
        }
        table |= {"pool": ["mine"] * count, "game": list(range(count))}
        table |= {"ply": [2 * chess.Board(fen).fullmove_number - 2 for fen, _ in rows]}
        table |= {"played": [line[:4] for _, line in rows], **columns}
        path = tmp_path / name
        parquet.write_table(pa.table(table), path)
        return path

    return write


@pytest.fixture
def puzzle_file(tmp_path: Path) -> Callable[..., Path]:
    def write(rows: list[dict[str, str]] | None = None, name: str = "puzzles-test.csv.zst") -> Path:
        rows = PUZZLES if rows is None else rows
        path = tmp_path / name
        plain = tmp_path / "plain.csv"
        with plain.open("w", newline="") as file:
            table = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["PuzzleId"])
            table.writeheader()
            table.writerows(rows)
        content = plain.read_bytes()
        path.write_bytes(zstandard.ZstdCompressor().compress(content) if name.endswith(".zst") else content)
        return path

    return write


@pytest.fixture
def puzzle_rows() -> list[dict[str, str]]:
    return PUZZLES


@pytest.fixture
def oracle() -> Table:
    """Knows every answer of LABELLED and PUZZLES."""
    answers = {key(chess.Board(fen)): line.split()[0] for fen, line in LABELLED}
    for puzzle in PUZZLES:
        board = chess.Board(puzzle["FEN"])
        for i, move in enumerate(puzzle["Moves"].split()):
            if i % 2:
                answers[key(board)] = move
            board.push_uci(move)
    return Table(answers)


@pytest.fixture
def table() -> type[Table]:
    return Table


@pytest.fixture
def random_agent() -> Random:
    return Random()
