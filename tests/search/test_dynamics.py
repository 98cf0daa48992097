"""Dynamics: the rules with the game's history, or the states that a network predicts; what planners count of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import chess
import pytest

from diffusearch.inference.evaluation import Evaluation
from diffusearch.inference.run import Run
from diffusearch.search.dynamics import Imagined, Rules, Successor, successors
from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.node import ImaginedTree
from diffusearch.search.mcts.planner import Mcts
from diffusearch.search.mcts.settings import Settings
from diffusearch.search.minimax.planner import Minimax
from diffusearch.search.outcome import Outcome
from diffusearch.search.planner import Budget
from diffusearch.search.rollout import Rollout

SHUFFLE = "g1f3 g8f6 f3g1 f6g8 "
Played = Callable[[str, str], chess.Board]


def test_the_rules_keep_the_history(played: Played) -> None:
    boards = [played(chess.STARTING_FEN, SHUFFLE + "g1f3 g8f6 f3g1"), chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 99 90")]
    moves = [chess.Move.from_uci("f6g8"), chess.Move.from_uci("a1a2")]
    stacks = [list(board.move_stack) for board in boards]
    third, fifty = Rules().step(boards, [None, None], moves)
    assert (third.outcome, fifty.outcome) == (Outcome.DRAWN, Outcome.DRAWN)
    assert third.predicted is None
    assert third.board is not None
    assert third.board.move_stack == [*stacks[0], moves[0]]
    assert [board.move_stack for board in boards] == stacks  # the boards are left as they were
    forgetful = chess.Board(boards[0].fen())
    assert Rules().step([forgetful], [None], moves[:1])[0].outcome is None


@pytest.mark.parametrize(
    ("fen", "uci", "expected"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", Outcome.MATED),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", Outcome.DRAWN),
        (chess.STARTING_FEN, "e2e4", None),
    ],
)
def test_ends_by_the_rules_and_in_predicted_states(fen: str, uci: str, expected: Any, true_world: Any) -> None:
    board, move = chess.Board(fen), chess.Move.from_uci(uci)
    for dynamics in (Rules(), Imagined(true_world(Handmade()))):
        (found,) = dynamics.step([board], [None], [move])
        assert found.outcome is expected
        assert found.board is not None
        assert not found.board.is_legal(move)
    assert found.predicted is not None


def test_a_predicted_state_has_no_history_and_no_claims(true_world: Any, played: Played) -> None:
    board = played(chess.STARTING_FEN, SHUFFLE + "g1f3 g8f6 f3g1")
    (found,) = Imagined(true_world(Handmade())).step([board], [None], [chess.Move.from_uci("f6g8")])
    assert found.outcome is None
    assert found.board is not None
    assert not found.board.move_stack


@pytest.mark.parametrize("broken", [[], ["f6g8", "a1a2", "g6g7", "e2e4"]])
def test_the_rules_end_the_game_at_the_root(broken: list[str], true_world: Any, played: Played) -> None:
    boards = [
        played(chess.STARTING_FEN, SHUFFLE + "g1f3 g8f6 f3g1"),
        chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 99 90"),
        chess.Board("7k/8/5KQ1/8/8/8/8/8 w - - 0 1"),
        chess.Board(),
    ]
    moves = [chess.Move.from_uci(uci) for uci in ("f6g8", "a1a2", "g6g7", "e2e4")]
    dynamics = Imagined(true_world(Handmade(), broken=broken))
    found = successors(dynamics, boards, [None] * 4, moves, at_root=True)
    assert [one.outcome for one in found] == [Outcome.DRAWN, Outcome.DRAWN, Outcome.MATED, None]
    assert [one.predicted for one in found] == [one.predicted for one in dynamics.step(boards, [None] * 4, moves)]
    for board, move, one in zip(boards[:3], moves[:3], found[:3], strict=True):
        board.push(move)
        assert one.board == board
    assert (found[3].board is None) == bool(broken)
    (below,) = successors(dynamics, boards[1:2], [None], [chess.Move.from_uci("e8d7")], at_root=False)
    assert below.outcome is None  # half-move clock 101


def test_what_is_no_position_has_no_board(true_world: Any) -> None:
    world = true_world(Handmade(), broken=["e2e4"])
    broken, whole = Imagined(world).step(
        [chess.Board()] * 2, [None] * 2, [chess.Move.from_uci(uci) for uci in ("e2e4", "d2d4")]
    )
    assert broken.board is None
    assert broken.outcome is None
    assert broken.predicted is not None
    assert broken.predicted.problem == "White has no king"
    assert whole.board is not None


def test_a_runs_predictions_are_passed_on(small_run: Run) -> None:
    board = chess.Board()
    evaluations = small_run.evaluate([board] * 3)
    moves = list(board.legal_moves)[:3]
    found = Imagined(small_run).step([board] * 3, evaluations, moves)
    assert [one.predicted for one in found] == small_run.predict([board] * 3, evaluations, moves)


class Other:
    """Dynamics of a class of their own, whose states are predicted."""

    predicts = True

    def __init__(self, network: Any) -> None:
        self.inner = Imagined(network)

    def step(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[Successor]:
        return self.inner.step(boards, evaluations, moves)


@pytest.mark.parametrize("kind", [partial(Minimax, widths=(3, 2)), partial(Rollout, depth=3)])
def test_a_step_is_a_call_that_counts(kind: Any, counting: Any, true_world: Any, hash_net: Any) -> None:
    net = counting(true_world(hash_net))
    planner = kind(net, Other(net))
    for calls in (1, 3, 5):
        before, positions = net.calls, net.positions
        (plan,) = planner.plan([chess.Board()], None, Budget(calls=calls))
        assert plan.calls == net.calls - before == calls
        assert plan.evaluations == net.positions - positions == planner.work(calls)


def test_mcts_searches_a_tree_of_predicted_states(true_world: Any, hash_net: Any) -> None:
    world, board = true_world(hash_net), chess.Board()
    planner = Mcts(world, Other(world), Settings(simulations=20))
    plan = planner.plan_in_game(board, None, Budget())
    assert isinstance(planner.trees[0], ImaginedTree)
    plies = plan.variation(plan.moves[0].move).plies
    assert plies is not None
    assert plies[0].state is not None
