"""Exhibits that look at the labelled sets alone: the counts of Table 1, and a record of each paradigm (appendix)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import chess

from diffusearch.data.labelled import read_labelled
from diffusearch.data.scores import parse_actions, parse_values
from diffusearch.evaluation.report import table
from diffusearch.reproduce.plan import Setting
from diffusearch.tokens.layout import PARADIGMS
from diffusearch.tokens.values import value_bin
from diffusearch.training.sources import first_games

# Table 1: records and games of the paper
PAPER = {
    "Train SA-V": {"100k": (193_189_573, 100_000), "10k": (17_448_268, 10_000)},
    "Train others": {"100k": (6_564_661, 100_000), "10k": (659_576, 10_000)},
    "Action Test": {"100k": (62_561, 1_000), "10k": (62_561, 1_000)},
    "Puzzle Test": {"100k": (36_816, 10_000), "10k": (36_816, 10_000)},
}


def counts_table(setting: Setting) -> str:
    """Table 1 with our counts; a dash where a set is not labelled yet."""
    games = setting.scale.games
    found = {
        "Train SA-V": _count(setting.labels / "actions", games, by_action=True),
        "Train others": _count(setting.labels / "oracle", games),
        "Action Test": _tested(setting.actions, setting.skip_actions, setting.limit),
        "Puzzle Test": _puzzles(setting),
    }
    lines = []
    for name, ours in found.items():
        theirs = PAPER[name][setting.scale.paper]
        shown = ["-", "-"] if ours is None else [f"{number:,}" for number in ours]
        lines.append([name, *shown, *(f"{number:,}" for number in theirs)])
    head = ["stage", "records", "games", f"paper ({setting.scale.paper}): records", "paper: games"]
    note = (
        "Records of SA-V are actions, of puzzles the solver's moves. Validation games are not among the training games."
    )
    return table(head, lines) + "\n\n" + note


def _count(path: Path, games: int, by_action: bool = False) -> tuple[int, int] | None:
    if not any(path.glob("*.parquet")):
        return None
    rows = 0
    for row in first_games(path, "train", games):
        rows += len(parse_actions(row["actions"] or "")) if by_action else 1
    return rows, games


def _tested(path: Path | None, skip: int, limit: int | None) -> tuple[int, int] | None:
    if path is None or not path.exists():
        return None
    rows = list(islice(read_labelled(path), skip, None if limit is None else skip + limit))
    return len(rows), len({(row["pool"], row["game"]) for row in rows})


def _puzzles(setting: Setting) -> tuple[int, int] | None:
    from diffusearch.evaluation.puzzles import read_puzzles

    if setting.puzzles is None:
        return None
    puzzles = read_puzzles(setting.puzzles, setting.puzzle_limit or setting.limit, skip=setting.skip_puzzles)
    return sum(len(puzzle.moves) // 2 for puzzle in puzzles), len(puzzles)


def examples_table(setting: Setting) -> str:
    """The first labelled record in each paradigm: what is given, then what is predicted."""
    horizon = min(4, setting.scale.depths)
    path = setting.labels / "oracle"
    rows = read_labelled(path, "train") if any(path.glob("*.parquet")) else iter(())
    row = next((one for one in rows if len(one["line"].split()) >= horizon), None)
    if row is None:
        return ""
    parts = [[f"{name.upper()}", *_segments(name, row, horizon)] for name in PARADIGMS]
    return table(["paradigm", "given", "predicted"], parts)


def _segments(paradigm: str, row: dict[str, Any], horizon: int) -> tuple[str, str]:
    first, later, given = PARADIGMS[paradigm]
    board, moves = chess.Board(row["fen"]), row["line"].split()
    values = [value_bin(score.win()) for score in parse_values(row["values"] or "")]
    before: list[str] = []
    after: list[str] = []
    for ply in range(horizon if later else 1):
        for kind in first if ply == 0 else later:
            value = str(values[ply]) if ply < len(values) else "?"
            text = {"s": board.fen(), "a": moves[ply], "v": value}[kind]
            (before if ply == 0 and kind in given else after).append(f"{kind}_{ply} `{text}`")
        board.push_uci(moves[ply])
    return ", ".join(before), ", ".join(after)
