"""The search against a second one, written as plainly as can be: dictionaries, recursion, one leaf at a time."""

from __future__ import annotations

import math
from typing import Any

import chess
import pytest

from diffusearch.search.mcts.node import Tree
from diffusearch.search.mcts.search import search
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings
from diffusearch.search.outcome import Outcome, outcome

POSITIONS = [
    chess.STARTING_FEN,
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 2 3",
    "8/8/8/8/3q4/2k5/8/K7 b - - 0 1",
    "7k/8/5Q2/6K1/8/8/8/8 b - - 96 120",
    "4k3/3P4/3K4/8/8/8/8/7R b - - 0 1",
]


class Plain:
    """PUCT by the book. A key says which positions share statistics: the way to them, or their FEN."""

    def __init__(self, net: Any, settings: Settings) -> None:
        self.net, self.settings, self.rules = net, settings, settings.conventions
        self.prior: dict[Any, dict[str, float]] = {}
        self.count: dict[Any, dict[str, int]] = {}
        self.worth: dict[Any, dict[str, float]] = {}

    def key(self, board: chess.Board) -> Any:
        return board.fen() if self.rules.merge else tuple(move.uci() for move in board.move_stack)

    def simulate(self, board: chess.Board, root: bool = False) -> float:
        """One simulation; gives the value for the side to move."""
        result = None if root else outcome(board, claims=self.rules.claims)
        if result is not None:
            return self.rules.mated if result is Outcome.MATED else self.rules.drawn
        key = self.key(board)
        if key not in self.prior:
            (found,) = self.net.evaluate([board])
            self.prior[key] = {m.uci(): p for m, p in sorted(found.priors.items(), key=lambda item: -item[1])}
            self.count[key] = dict.fromkeys(self.prior[key], 0)
            self.worth[key] = dict.fromkeys(self.prior[key], 0.0)
            return float(found.value)
        together = sum(self.count[key].values())

        def score(uci: str) -> float:
            times = self.count[key][uci]
            mean = self.worth[key][uci] / times if times else self.settings.fpu
            assert mean is not None
            return mean + self.settings.cpuct * self.prior[key][uci] * math.sqrt(together) / (1 + times)

        best = max(self.prior[key], key=score)
        board.push_uci(best)
        theirs = self.simulate(board)
        board.pop()
        mine = self.rules.other(theirs)
        self.count[key][best] += 1
        self.worth[key][best] += mine
        return mine


@pytest.mark.parametrize("fen", POSITIONS)
@pytest.mark.parametrize("settings", [PAPER, AS_PUBLISHED, Settings(cpuct=1.3, fpu=0.5, parallel=1, prove=False)])
def test_visits_and_values_agree(fen: str, settings: Settings, hash_net: Any) -> None:
    board = chess.Board(fen)
    tree = Tree(board, settings.conventions)
    search([tree], hash_net, settings)

    plain = Plain(hash_net, settings)
    # The first simulation of the plain search expands the root; ours does that on top, unless it is said to count.
    for _ in range(settings.simulations + (not settings.conventions.root_counts)):
        plain.simulate(board, root=True)
    key = plain.key(board)
    root = tree.root
    assert {m.uci(): n for m, n in zip(root.moves, root.visits.tolist(), strict=True)} == plain.count[key]
    assert root.total.tolist() == pytest.approx([plain.worth[key][m.uci()] for m in root.moves])
