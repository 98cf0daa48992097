"""Small records and small recipes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest
import torch

from diffusearch.data.records import Line, write_records
from diffusearch.training.recipe import Recipe, recipe_from_dict

torch.set_num_threads(1)


def random_lines(count: int, seed: int, horizon: int) -> list[Line]:
    """Different positions of random games, each with a line and values that follow from it."""
    chance = random.Random(seed)
    found: dict[str, Line] = {}
    while len(found) < count:
        board = chess.Board()
        for _ in range(chance.randrange(4, 60)):
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(chance.choice(legal))
        fen, line = board.fen(), []
        for _ in range(horizon):
            legal = sorted(board.legal_moves, key=chess.Move.uci)
            if not legal:
                break
            line.append(chance.choice(legal).uci())
            board.push_uci(line[-1])
        if line:
            found[fen] = Line(fen, line, [chance.randrange(128) for _ in line])
    return list(found.values())


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 records of horizon 2."""
    folder = tmp_path_factory.mktemp("records") / "train"
    write_records(random_lines(64, 1, 2), folder, 2)
    return folder


@pytest.fixture
def make_recipe(records: Path) -> Callable[..., Recipe]:
    """A recipe that trains in a second; keyword arguments are merged into its tables."""

    def make(**tables: Any) -> Recipe:
        trunk = {"layers": 1, "width": 16, "heads": 2, "dropout": 0.1, "attention": "prefix"}
        model = {"horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "head_width": 4, "trunk": trunk}
        base: dict[str, Any] = {
            "seed": 3,
            "threads": 1,
            "bf16": "off",
            "model": model,
            "data": {"sources": [{"path": str(records)}], "validation": str(records)},
            "optimiser": {"kind": "adamw", "rate": 1e-3, "batch": 8, "steps": 12, "warmup": 2},
            "watch": {"checkpoint_every": 4, "validate_every": 6, "validate_records": 16},
        }
        return recipe_from_dict(_merged(base, tables))

    return make


def _merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in more.items():
        out[key] = _merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out
