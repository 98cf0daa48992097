"""Requests of all kinds to the page's server, good and bad, each with the answers that are right for it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import chess

from soak.uci_lines import garbage, random_game

LONG = 90_000
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Asked:
    """One request and the status codes that may answer it; 503 (busy) may always."""

    method: str
    path: str
    good: tuple[int, ...]
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


def _post(path: str, content: Any, *good: int, **headers: str) -> Asked:
    named = {"content-type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
    return Asked("POST", f"/api/{path}", good, json.dumps(content).encode(), named)


def _game(lots: random.Random, plies: int = 40) -> dict[str, Any]:
    """An unfinished game."""
    while True:
        board = random_game(lots, lots.randrange(plies))
        if board.outcome(claim_draw=True) is None:
            return {"moves": [move.uci() for move in board.move_stack]}


def _pgn(lots: random.Random) -> str:
    board = random_game(lots, lots.randrange(1, 60))
    return chess.Board().variation_san(board.move_stack) + " *"


CHEAP = (("random", None), ("greedy-material", None), ("s-a", 4), ("search", 4), ("diffusearch", 4), ("stockfish", 0))
KINDS: dict[str, Callable[[random.Random], Asked]] = {
    "page": lambda lots: Asked("GET", lots.choice(("/", "/index.html", "/icon.svg", "/licences.txt")), (200,)),
    "page, head": lambda lots: Asked("HEAD", "/", (200,)),
    "agents": lambda lots: Asked("GET", "/api/agents", (200,)),
    "description": lambda lots: Asked("GET", "/api/openapi.json", (200,)),
    "puzzles": lambda lots: Asked("GET", "/api/puzzles", (200,)),
    "solution": lambda lots: Asked("GET", f"/api/puzzles/{lots.randrange(20)}/solution", (200,)),
    "position": lambda lots: _post("position", _game(lots, 100), 200),
    "think": lambda lots: _post("think", _game(lots) | _choice(lots), 200),
    "review": lambda lots: _post("review", _game(lots, 12) | {"agent": "random"}, 200, 400),
    "paste": lambda lots: _post("paste", {"text": _pgn(lots)}, 200),
    "pgn": lambda lots: _post("pgn", _game(lots) | {"white": "A", "black": garbage(lots) or "B"}, 200, 400, 422),
    "try a puzzle": lambda lots: _post(f"puzzles/{lots.randrange(20)}/try", {"moves": ["e2e4"]}, 200, 400),
    "illegal move": lambda lots: _post("position", {"moves": ["e2e5"]}, 400),
    "no position": lambda lots: _post("position", {"fen": garbage(lots) or "8/8"}, 400, 422),
    "over": lambda lots: _post("think", {"moves": ["f2f3", "e7e5", "g2g4", "d8h4"], "agent": "random"}, 409),
    "no such agent": lambda lots: _post("think", {"agent": garbage(lots) or "nobody"}, 404),
    "agent with a path": lambda lots: _post("think", {"agent": "uci:/bin/sh"}, 404),
    "no such puzzle": lambda lots: Asked("GET", "/api/puzzles/99999/solution", (404,)),
    "no such address": lambda lots: Asked("GET", f"/api/{lots.choice(('nowhere', 'think/x'))}", (404, 405)),
    "a path upwards": lambda lots: Asked("GET", lots.choice(("/../../etc/hosts", "/%2e%2e/%2e%2e/etc/hosts")), (404,)),
    "another method": lambda lots: Asked(lots.choice(("DELETE", "PUT", "PATCH")), "/api/think", (405,)),
    "foreign origin": lambda lots: _post("position", {}, 403, origin="http://elsewhere.example"),
    "foreign host": lambda lots: Asked("GET", "/api/agents", (400,), headers={"host": "elsewhere.example"}),
    "no JSON": lambda lots: Asked("POST", "/api/think", (422, 400), lots.randbytes(200), JSON),
    "deep JSON": lambda lots: Asked("POST", "/api/position", (422, 400), b"[" * LONG, JSON),
    "another shape": lambda lots: _post("position", {garbage(lots) or "x": lots.choice((1, None, [], {}))}, 422),
    "long moves": lambda lots: _post("position", {"moves": ["x" * LONG]}, 422),
    "open braces": lambda lots: _post("paste", {"text": "{" * LONG}, 400),
    "deep variations": lambda lots: _post("paste", {"text": "1. e4 " + "(1. d4 " * 10_000}, 400),
    "garbage to paste": lambda lots: _post("paste", {"text": garbage(lots) * 50 or "x"}, 200, 400, 422),
    "too long": lambda lots: Asked("POST", "/api/paste", (413,), b"x" * 1_100_000, JSON),
}  # fmt: skip


def _choice(lots: random.Random) -> dict[str, Any]:
    agent, level = lots.choice(CHEAP)
    return {"agent": agent} if level is None else {"agent": agent, "level": level}
