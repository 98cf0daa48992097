"""One line a test position: what an agent played there. Two such files are compared row by row (compare.py).

The file grows while the agent is measured. The same command on an existing file goes on behind its last row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diffusearch.agents.base import Agent, Decision
from diffusearch.errors import UserError
from diffusearch.evaluation.json_lines import JsonLines
from diffusearch.evaluation.record import digest


@dataclass(frozen=True)
class PositionRow:
    """An agent's answer to one test position; of a puzzle, its first move and whether the whole solution was found."""

    id: str  # the FEN, or the puzzle's id
    fen: str
    answer: str  # the right move, UCI
    move: str  # the agent's move, UCI
    right: bool
    probability: float | None = None  # of the agent's move
    fixed_at: int | None = None  # the denoising step after which the move changed no more; None if none was made
    evaluations: int = 0  # network evaluations or engine nodes; of a puzzle, in all its moves
    raw_legal: bool | None = None  # whether the move would have been legal without the legality mask
    legal_mass: float | None = None  # probability of the legal moves without the mask
    found: int | None = None  # puzzles: solver's moves found before the first that differs
    mate_tolerant: bool | None = None  # puzzles: solved by lichess's rule, any mate counts


def agent_digest(agent: Agent) -> str:
    """Changes with the recipes and weights of an agent's runs."""
    return digest(agent.provenance, 12)


def answer_of(decision: Decision) -> dict[str, Any]:
    """The fields of a row that come from the agent's decision."""
    imagined = decision.imagination
    return {
        "move": decision.move.uci(),
        "probability": decision.probabilities.get(decision.move),
        "fixed_at": imagined.move_step if imagined else None,
        "evaluations": decision.nodes,
        "raw_legal": imagined.raw_legal if imagined else None,
        "legal_mass": imagined.legal_mass if imagined else None,
    }


class RowLog:
    """The rows of one agent on one test set, as a file that a measurement appends to."""

    def __init__(self, path: Path, kind: str, agent: Agent) -> None:
        """`kind` is the metric: actions or puzzles."""
        self.head = {"kind": kind, "agent": agent.name, "agent_hash": agent_digest(agent)}
        self.file = JsonLines(path, "row")

    def done(self, ids: Sequence[str]) -> list[PositionRow]:
        """The rows that the file has of a measurement on these ids; another measurement's file is refused."""
        head, rows = _rows_of(self.file)
        for name, value in self.head.items():
            if rows and head[name] != value:
                raise UserError(
                    f"{self.file.path} holds rows of another {name.replace('_', ' ')} ({head[name]}, not {value}): "
                    "give another --rows-out, or delete the file."
                )
        rows = rows[: len(ids)]
        if [row.id for row in rows] != list(ids[: len(rows)]):
            raise UserError(
                f"{self.file.path} holds other test rows than those asked for: give another --rows-out, or the "
                "--data, --limit, --seed and --skip of that file."
            )
        return rows

    def append(self, rows: Sequence[PositionRow]) -> None:
        """Add rows; they are on the disk when this returns."""
        self.file.append([self.head | asdict(row) for row in rows])


def read_rows(path: Path) -> tuple[dict[str, str], list[PositionRow]]:
    """What a file is of (kind, agent, agent_hash), and its rows."""
    if not path.is_file():
        raise UserError(f"There is no file {path}: write one with `diffusearch eval actions --rows-out {path}`.")
    return _rows_of(JsonLines(path, "row"))


def _rows_of(file: JsonLines) -> tuple[dict[str, str], list[PositionRow]]:
    heads: list[dict[str, str]] = []
    rows: list[PositionRow] = []
    for number, line in enumerate(file.read(), start=1):
        try:
            heads.append({name: str(line.pop(name)) for name in ("kind", "agent", "agent_hash")})
            rows.append(PositionRow(**line))
        except (TypeError, KeyError) as error:
            raise file.damaged(number, error) from error
        if heads[-1] != heads[0]:
            raise UserError(f"{file.path}, line {number} is of another measurement than line 1: keep one a file.")
    return heads[0] if heads else {}, rows
