"""mcts as a player: reuse of the tree in a game, temperature, limits, lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
import numpy.typing as npt
import pytest

from diffusearch.agents.base import Limits
from diffusearch.agents.searching import SearchAgent
from diffusearch.search.handmade import GainPolicy, MaterialValue
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings


class Counting(MaterialValue):
    """Counts calls and positions."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        self.batches.append(len(boards))
        return super().values(boards)


def test_the_tree_is_kept_through_a_game_and_dropped_for_a_new_one() -> None:
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=60))
    board = chess.Board()
    board.push(agent.play(board).move)
    tree = agent.tree
    assert tree is not None
    reply = tree.root.children[tree.root.moves.index(board.peek())]
    assert reply is not None
    board.push(reply.moves[int(reply.visits.argmax())])
    below = reply.children[int(reply.visits.argmax())]
    assert below is not None
    kept = below.sum_visits
    agent.play(board)
    assert agent.tree is tree  # the same tree, re-rooted
    assert tree.root is below
    assert below.sum_visits == kept + 60
    agent.new_game()
    assert agent.tree is None


def test_takeback_and_jump_make_a_new_tree() -> None:
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=20))
    board = chess.Board()
    agent.play(board)
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    agent.play(board)
    agent.play(chess.Board())
    assert agent.tree is not None
    assert agent.tree.root.sum_visits == 20


def test_reuse_can_be_switched_off() -> None:
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=20, reuse=False))
    for _ in range(2):
        agent.play(chess.Board())
        assert agent.tree is not None
        assert agent.tree.root.sum_visits == 20


def test_limits_replace_the_simulations() -> None:
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=20))
    assert agent.play(chess.Board(), Limits(nodes=5)).nodes == 6
    agent.new_game()
    assert agent.play(chess.Board(), Limits(seconds=0.0)).nodes <= 1 + Settings().parallel


def test_moves_in_proportion_to_visits() -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")
    moves = set()
    for seed in range(30):
        agent = SearchAgent(GainPolicy(), MaterialValue(), replace(PAPER, cpuct=2.0), seed=seed)
        decision = agent.play(board)
        moves.add(decision.move)
        assert decision.probabilities[decision.move] > 0.0
    assert len(moves) > 3
    cold = {SearchAgent(GainPolicy(), MaterialValue(), seed=seed).play(board).move for seed in range(5)}
    assert len(cold) == 1


def test_boards_share_network_calls() -> None:
    net = Counting()
    agent = SearchAgent(GainPolicy(), net, Settings(simulations=24, parallel=4))
    decisions = agent.play_many([chess.Board()] * 10)
    assert [one.nodes for one in decisions] == [25] * 10
    assert len(net.batches) < 20  # 250 positions
    assert agent.tree is None  # the game's own tree is left alone


def test_the_published_scale_is_not_shown_as_a_win_probability() -> None:
    decision = SearchAgent(GainPolicy(), MaterialValue(), AS_PUBLISHED).play(chess.Board())
    assert decision.value is None
    assert decision.nodes == 100  # the root's evaluation is one of the hundred


def test_strength_scales_the_simulations() -> None:
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=200), strength=25)
    assert agent.settings.simulations == 50
    assert agent.temperature == pytest.approx(3.0)


def test_more_boards_than_trees_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [chess.Board(), chess.Board("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")] * 3
    agent = SearchAgent(GainPolicy(), MaterialValue(), Settings(simulations=10))
    whole = [one.move for one in agent.play_many(boards)]
    monkeypatch.setattr("diffusearch.agents.searching.TREES", 4)
    assert [one.move for one in agent.play_many(boards)] == whole


@pytest.mark.parametrize("settings", [Settings(simulations=24), replace(PAPER, simulations=24)])
def test_a_whole_game_on_one_tree(settings: Settings) -> None:
    """One agent plays both sides from an ending, keeping its tree, past draws that nobody claims."""
    agent = SearchAgent(GainPolicy(), MaterialValue(), settings, seed=3)
    board = chess.Board("8/5k2/8/8/3R4/4K3/8/8 w - - 90 60")
    for _ in range(60):
        if not any(board.legal_moves):
            break
        decision = agent.play(board)
        assert board.is_legal(decision.move)
        assert sum(decision.probabilities.values()) == pytest.approx(1.0)
        board.push(decision.move)
    assert board.is_checkmate() or len(board.move_stack) == 60
