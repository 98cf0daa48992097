"""s-v and sa-v: whose value it is, and what the rules say where a move ends the game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess
import pytest

from diffusearch.agents.values import ActionValueAgent, StateValueAgent
from diffusearch.inference.evaluation import Evaluation
from diffusearch.search.handmade import Handmade


class Sure:
    """Gives the same value to every position, and remembers what it was asked."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.boards: list[chess.Board] = []

    def evaluate(self, boards: Sequence[chess.Board], legal: Any = None, *, priors: bool = True) -> list[Evaluation]:
        assert not priors
        self.boards += boards
        return [Evaluation({}, self.value) for _ in boards]

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [dict.fromkeys(board.legal_moves, self.value) for board in boards]


def test_the_next_state_is_the_opponents() -> None:
    """The queen is taken by either colour: the best next state is the one with the lowest value for who is to move."""
    for board in (chess.Board("3qk3/8/8/8/8/8/8/3RK3 w - - 0 1"), chess.Board("3rk3/8/8/8/8/8/8/3QK3 b - - 0 1")):
        decision = StateValueAgent(Handmade()).play(board)
        assert board.is_capture(decision.move)
        board.push(decision.move)
        assert decision.value == pytest.approx(1 - (Handmade().evaluate([board])[0].value or 0.0), abs=1e-3)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_mate_is_played_and_not_asked_about(value: float) -> None:
    for net, kind in ((Sure(value), StateValueAgent), (Sure(1 - value), ActionValueAgent)):
        for board in (
            chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"),
            chess.Board("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1"),
        ):
            decision = kind(net).play(board)  # type: ignore[arg-type]
            assert decision.move.uci() in ("a1a8", "a8a1")
            assert decision.value == 1.0
        assert all(any(board.legal_moves) for board in net.boards)


def test_stalemate_is_a_draw() -> None:
    trap = chess.Board("8/2p5/k7/4Q3/2K1R3/8/8/8 w - - 0 1")
    stale = chess.Move.from_uci("e5c7")
    better, worse = StateValueAgent(Sure(0.3)), StateValueAgent(Sure(0.7))  # of the opponent, after any other move
    assert better.play(trap).move != stale
    decision = worse.play(trap)
    assert decision.move == stale
    assert decision.value == 0.5


def test_repetition_is_seen_through_the_history() -> None:
    board = chess.Board("6k1/6p1/8/8/8/8/r4r2/4Q2K w - - 0 1")
    for uci in ["e1e8", "g8h7", "e8h5", "h7g8", "h5e8", "g8h7", "e8h5", "h7g8"]:
        board.push_uci(uci)
    repeats = "h5e8"
    losing, winning = StateValueAgent(Sure(0.9)), StateValueAgent(Sure(0.1))
    assert losing.play(board).move.uci() == repeats
    assert losing.play(board).value == 0.5
    assert winning.play(board).move.uci() != repeats
    forgetful = losing.play(chess.Board(board.fen()))
    assert forgetful.value == pytest.approx(0.1)


def test_next_states_come_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Sure(0.5)
    board = chess.Board()
    board.push_uci("e2e4")
    StateValueAgent(net).play_many([board, chess.Board()])
    assert len(net.boards) == 40
    assert [one.peek() for one in net.boards[:20]] == list(board.legal_moves)
    monkeypatch.setattr("diffusearch.agents.values.BOARDS", 1)
    again = StateValueAgent(Sure(0.5)).play_many([board, chess.Board()])
    assert [one.nodes for one in again] == [20, 20]


def test_action_values_are_the_movers(gain_action_value: Any) -> None:
    board = chess.Board("3rk3/8/8/8/8/8/8/3QK3 b - - 0 1")
    decision = ActionValueAgent(gain_action_value).play(board)
    assert decision.move.uci() == "d8d1"
    assert decision.value is not None
    assert decision.value > 0.9
