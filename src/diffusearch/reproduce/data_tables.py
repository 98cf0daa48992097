"""Exhibits that look at the labelled sets alone: the counts of Table 1, and a record of each paradigm (appendix).

Both are kept among the results, with the digests of the sets: a page can be written where there are no labels.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import chess

from diffusearch.data.labelled import read_labelled
from diffusearch.data.scores import parse_actions, parse_values
from diffusearch.evaluation.report import table
from diffusearch.reproduce.digests import content_digest, digest, set_digest, test_digest
from diffusearch.reproduce.kept import Kept, read_kept, write_kept
from diffusearch.reproduce.labels import label_sets
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


def keep_counts(setting: Setting) -> None:
    """Count the labelled sets and the test files, choose the example, and keep both."""
    games = setting.scale.games
    counts = {
        "Train SA-V": _count(setting.labels / "actions", games, by_action=True),
        "Train others": _count(setting.labels / "oracle", games),
        "Action Test": _tested(setting.actions, setting.skip_actions, setting.limit),
        "Puzzle Test": _puzzles(setting),
    }
    sets = label_sets(setting.scale, setting.own_test)
    contents = {one.name: content_digest(setting.labels / one.name) for one in sets}
    figures = {"counts": counts, "sets": contents, "example": _example(setting)}
    write_kept(_file(setting), "labels", figures, [], {"agent": "", "digest": _digest(setting)})


def kept_counts(setting: Setting) -> Kept | None:
    """What was kept of these sets."""
    kept = read_kept(_file(setting))
    return kept if kept and kept["digest"] == _digest(setting) else None


def _file(setting: Setting) -> Path:
    return setting.results / "labels.json"


def _digest(setting: Setting) -> str:
    sets = label_sets(setting.scale, setting.own_test)
    tests = [test_digest(path, setting) if path else "" for path in (setting.actions, setting.puzzles)]
    rows = [setting.skip_actions, setting.limit, setting.skip_puzzles, setting.puzzle_limit]
    return digest([[set_digest(one, setting) for one in sets], tests, rows])


def counts_table(setting: Setting) -> str:
    """Table 1 with our counts; dashes where nothing is labelled yet."""
    kept = kept_counts(setting)
    lines = []
    for name, papers in PAPER.items():
        shown = [f"{number:,}" for number in kept["counts"][name]] if kept else ["-", "-"]
        lines.append([name, *shown, *(f"{number:,}" for number in papers[setting.scale.paper])])
    head = ["stage", "records", "games", f"paper ({setting.scale.paper}): records", "paper: games"]
    note = (
        "Records of SA-V are actions, of puzzles the solver's moves. Validation games are not among the training "
        "games. Records that meet a test position are counted here, and no run is trained on them."
    )
    if kept:
        digests = ", ".join(f"{name} `{one}`" for name, one in kept["sets"].items())
        note += f" Digests of the labels, the same on every machine with the same engine: {digests}."
    return table(head, lines) + "\n\n" + note


def _count(path: Path, games: int, by_action: bool = False) -> tuple[int, int]:
    rows = 0
    for row in first_games(path, "train", games):
        rows += len(parse_actions(row["actions"] or "")) if by_action else 1
    return rows, games


def _tested(path: Path | None, skip: int, limit: int | None) -> tuple[int, int]:
    assert path is not None  # whole.py fills it in
    rows = list(islice(read_labelled(path), skip, None if limit is None else skip + limit))
    return len(rows), len({(row["pool"], row["game"]) for row in rows})


def _puzzles(setting: Setting) -> tuple[int, int]:
    from diffusearch.evaluation.puzzles import read_puzzles

    assert setting.puzzles is not None  # whole.py asks for it
    puzzles = read_puzzles(setting.puzzles, setting.puzzle_limit or setting.limit, skip=setting.skip_puzzles)
    return sum(len(puzzle.moves) // 2 for puzzle in puzzles), len(puzzles)


def _example(setting: Setting) -> dict[str, Any] | None:
    """The labelled position that is nearest to the start of a game: where all plies are labelled, the start itself."""
    horizon = _horizon(setting)
    rows = (row for row in read_labelled(setting.labels / "oracle", "train") if len(row["line"].split()) >= horizon)
    first = min(rows, key=lambda row: (row["ply"], row["fen"]), default=None)
    return first and {name: first[name] for name in ("fen", "line", "values")}


def _horizon(setting: Setting) -> int:
    return min(4, setting.scale.depths)


def examples_table(setting: Setting) -> str:
    """A record in each paradigm: what is given, then what is predicted."""
    kept = kept_counts(setting)
    if not kept or not kept["example"]:
        return "not yet labelled."
    parts = [[name.upper(), *_segments(name, kept["example"], _horizon(setting))] for name in PARADIGMS]
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
