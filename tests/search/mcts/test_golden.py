"""Golden trees: whole searches stored as JSON and compared node by node, so that no change goes unseen.

To store them anew after a change that is meant: DIFFUSEARCH_WRITE_GOLDEN=1 pytest tests/search/mcts/test_golden.py
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from diffusearch.search.mcts.node import Node, Tree
from diffusearch.search.mcts.search import search
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings

FOLDER = Path(__file__).parent / "golden"
SETTINGS = {"tuned": Settings(), "paper": PAPER, "as-published": AS_PUBLISHED}
POSITIONS = {
    "opening": (chess.STARTING_FEN, "e2e4 c7c5"),
    "mate-near": ("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", ""),  # mates and stalemates within two plies
    "repetition-near": ("6k1/6p1/8/8/8/8/r4r2/4Q2K w - - 0 1", "e1e8 g8h7 e8h5 h7g8 h5e8 g8h7 e8h5 h7g8"),
}


def as_json(node: Node) -> dict[str, Any]:
    """A node and all that is below it; moves that were never visited are left out."""
    if not node.expanded:
        return {"exact": node.exact}
    edges = {
        node.moves[index].uci(): {
            "N": int(node.visits[index]),
            "W": float(node.total[index]),
            "P": float(node.prior[index]),
            "below": as_json(child),
        }
        for index, child in enumerate(node.children)
        if child is not None
    }
    return {"value": node.value, "exact": node.exact, "moves": len(node.moves), "edges": edges}


def compare(found: Any, stored: Any, where: str) -> None:
    if isinstance(stored, dict):
        assert set(found) == set(stored), where
        for key, value in stored.items():
            compare(found[key], value, f"{where}/{key}")
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, abs=1e-6), where
    else:
        assert found == stored, where


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name", SETTINGS)
def test_golden(name: str, position: str, hash_net: Any) -> None:
    fen, moves = POSITIONS[position]
    board = chess.Board(fen)
    for uci in moves.split():
        board.push_uci(uci)
    settings = replace(SETTINGS[name], simulations=40)
    tree = Tree(board, settings.conventions)
    search([tree], hash_net, settings)
    found = as_json(tree.root)
    path = FOLDER / f"{name}-{position}.json"
    if os.environ.get("DIFFUSEARCH_WRITE_GOLDEN"):
        path.write_text(json.dumps(found, indent=1) + "\n")
    compare(found, json.loads(path.read_text()), "root")
