"""random and greedy-material."""

from __future__ import annotations

from collections import Counter

import chess
import pytest

from diffusearch.agents.simple import GreedyMaterialAgent, RandomAgent
from diffusearch.search.handmade import gain


def test_random_moves_are_alike_and_repeat_with_their_seed() -> None:
    moves = [RandomAgent(seed=seed).play(chess.Board()).move for seed in range(2000)]
    counts = Counter(moves)
    assert len(counts) == 20
    assert max(counts.values()) < 2 * min(counts.values()) + 20
    assert [RandomAgent(seed=seed).play(chess.Board()).move for seed in range(20)] == moves[:20]


def test_the_same_seed_draws_anew_at_every_move_of_a_game() -> None:
    agent, board, plies = RandomAgent(seed=1), chess.Board(), []
    for _ in range(30):
        decision = agent.play(board)
        plies.append(list(board.legal_moves).index(decision.move))
        board.push(decision.move)
    assert len(set(plies)) > 5


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("3qk3/8/8/3R3p/8/8/8/4K2R w - - 0 1", {"d5d8"}),
        ("8/4P1k1/8/8/8/8/8/K7 w - - 0 1", {"e7e8q"}),
        ("6k1/5ppp/8/8/8/7r/6P1/R3K3 w - - 0 1", {"a1a8"}),  # mate before everything
        ("4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1", {"b4a3"}),  # en passant is a capture
        ("8/2p5/k7/4Q3/2K1R3/8/8/8 w - - 0 1", None),  # a pawn that stalemates is not worth it
    ],
)
def test_greedy_takes_the_most(fen: str, best: set[str] | None) -> None:
    for seed in range(10):
        move = GreedyMaterialAgent(seed=seed).play(chess.Board(fen)).move.uci()
        assert move in best if best else move != "e5c7"


def test_castling_is_not_a_capture() -> None:
    for chess960, uci in ((False, "e1g1"), (True, "e1h1")):
        board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960=chess960)
        assert gain(board, board.parse_uci(uci)) == 0
