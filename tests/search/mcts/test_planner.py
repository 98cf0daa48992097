"""MCTS as a planner: the tree kept in a game, budgets, and trees of predicted states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import pytest

from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.node import ImaginedTree, Node
from diffusearch.search.mcts.planner import HORIZON, Mcts
from diffusearch.search.mcts.settings import AS_PUBLISHED, Settings
from diffusearch.search.planner import Budget, Plan

TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
SHUFFLE = "g1h1 g8h8 h1g1 h8g8 "
ANY = Budget()
Played = Callable[[str, str], chess.Board]


def imagined(world: Any, **settings: Any) -> Mcts:
    return Mcts(world, Imagined(world), Settings(**settings))


def best(plan: Plan) -> chess.Move:
    return plan.moves[0].move


def test_the_tree_is_kept_through_a_game_and_dropped_for_a_new_one() -> None:
    planner, board = Mcts(Handmade(), settings=Settings(simulations=60)), chess.Board()
    board.push(best(planner.plan_in_game(board, None, ANY)))
    tree = planner.trees[0]
    reply = tree.root.children[tree.root.moves.index(board.peek())]
    assert reply is not None
    board.push(reply.moves[int(reply.visits.argmax())])
    below = reply.children[int(reply.visits.argmax())]
    assert below is not None
    kept = below.sum_visits
    planner.plan_in_game(board, None, ANY)
    assert planner.trees[0] is tree  # the same tree, re-rooted
    assert tree.root is below
    assert below.sum_visits == kept + 60
    planner.new_game()
    assert not planner.trees


def test_games_side_by_side_keep_a_tree_each_and_are_searched_as_alone(counting: Any) -> None:
    """Three games, in another order at the second move; one of them may play some moves only."""
    openings, settings = (["e2e4", "e7e5"], ["d2d4", "d7d5"], ["c2c4", "c7c5"]), Settings(simulations=30)
    games = {number: chess.Board() for number in range(3)}
    for number, moves in enumerate(openings):
        for move in moves:
            games[number].push_uci(move)
    alone = {number: Mcts(Handmade(), settings=settings) for number in games}
    net = counting(Handmade())
    planner = Mcts(net, settings=settings)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2]):
        before, boards = len(net.evaluated), [games[number] for number in order]
        plans = planner.plan_in_games(boards, order, None, ANY)
        assert len(net.evaluated) - before <= 31  # calls of one game, not of three
        for number, board, plan in zip(order, boards, plans, strict=True):
            assert plan.policy == alone[number].plan_in_game(board, None, ANY).policy
            board.push(best(plan))
            board.push(next(iter(board.legal_moves)))
    some = [next(iter(games[0].legal_moves))]
    kept = planner.trees[0]
    (plan,) = planner.plan_in_games([games[0]], [0], [some], ANY)
    assert list(plan.policy) == some
    assert planner.trees[0] is kept


def test_takeback_and_jump_make_a_new_tree() -> None:
    planner, board = Mcts(Handmade(), settings=Settings(simulations=20)), chess.Board()
    planner.plan_in_game(board, None, ANY)
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    planner.plan_in_game(board, None, ANY)
    planner.plan_in_game(chess.Board(), None, ANY)
    assert planner.trees[0].root.sum_visits == 20


def test_reuse_can_be_switched_off() -> None:
    planner = Mcts(Handmade(), settings=Settings(simulations=20, reuse=False))
    for _ in range(2):
        planner.plan_in_game(chess.Board(), None, ANY)
        assert planner.trees[0].root.sum_visits == 20


def test_a_budget_replaces_the_simulations_and_seconds_shorten_them() -> None:
    planner = Mcts(Handmade(), settings=Settings(simulations=20))
    (plan,) = planner.plan([chess.Board()], None, Budget(evaluations=5))
    assert plan.evaluations == 6
    (plan,) = planner.plan([chess.Board()], None, Budget(seconds=0.0))
    assert plan.evaluations <= 1 + Settings().parallel


def test_boards_share_network_calls_and_leave_the_kept_tree_alone(counting: Any) -> None:
    net = counting(Handmade())
    planner = Mcts(net, settings=Settings(simulations=24, parallel=4))
    plans = planner.plan([chess.Board()] * 10, None, ANY)
    assert [plan.evaluations for plan in plans] == [25] * 10
    assert {plan.calls for plan in plans} == {len(net.evaluated)}
    assert len(net.evaluated) < 20  # 250 positions
    assert not planner.trees


def test_more_boards_than_trees_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [chess.Board(), chess.Board("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")] * 3
    planner = Mcts(Handmade(), settings=Settings(simulations=10))
    whole = [plan.policy for plan in planner.plan(boards, None, ANY)]
    monkeypatch.setattr("diffusearch.search.mcts.planner.TREES", 4)
    assert [plan.policy for plan in planner.plan(boards, None, ANY)] == whole


def test_first_moves_can_be_narrowed(true_world: Any) -> None:
    own = [chess.Move.from_uci(uci) for uci in ("a2a3", "h2h4")]
    for dynamics in (Rules(), Imagined(true_world(Handmade()))):
        planner = Mcts(Handmade(), dynamics, Settings(simulations=12))
        (plan,) = planner.plan([chess.Board()], [own], ANY)
        assert set(plan.policy) == set(own)
        assert planner.plan_in_game(chess.Board(), [own], ANY).moves == plan.moves


def test_the_published_scale_is_not_shown_as_a_win_probability() -> None:
    (plan,) = Mcts(Handmade(), settings=AS_PUBLISHED).plan([chess.Board()], None, ANY)
    assert plan.value is None
    assert all(one.value is None and one.score is None for one in plan.moves)
    assert plan.evaluations == 100  # the root's evaluation is one of the hundred


def test_the_horizon_is_no_longer_than_the_simulations() -> None:
    assert Mcts(Handmade(), settings=Settings(simulations=7)).horizon == 7
    assert Mcts(Handmade(), settings=Settings(simulations=1000)).horizon == HORIZON


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, TRAP, MATE])
def test_true_predictions_give_the_tree_of_the_rules(fen: str, hash_net: Any, true_world: Any) -> None:
    settings = Settings(simulations=60)
    (rules,) = Mcts(hash_net, Rules(), settings).plan([chess.Board(fen)], None, ANY)
    (dream,) = imagined(true_world(hash_net), simulations=60).plan([chess.Board(fen)], None, ANY)
    assert dream.moves == rules.moves
    line = dream.variation(best(dream))
    assert line.moves == rules.variation(best(rules)).moves
    assert line.plies is not None
    board = chess.Board(fen)
    for move, ply in zip(line.moves, line.plies, strict=True):
        board.push(move)
        assert ply.state in (board.fen(), None)
        assert ply.legal
    assert rules.variation(best(rules)).plies is None


def test_costs_are_counted_as_they_are_spent(true_world: Any, counting: Any, hash_net: Any) -> None:
    broken = [move.uci() for move in list(chess.Board().legal_moves)[::2]]
    for world in (true_world(hash_net), true_world(hash_net, broken=broken)):
        net = counting(world)
        (plan,) = Mcts(net, Imagined(net), Settings(simulations=40)).plan([chess.Board()], None, ANY)
        assert (plan.calls, plan.evaluations) == (net.calls, net.positions)
    assert sum(net.predicted) > sum(net.evaluated) - 1  # broken states are not evaluated


def test_a_move_to_no_position_keeps_the_value_before_it(true_world: Any, hash_net: Any) -> None:
    board = chess.Board()
    everything = [move.uci() for move in board.legal_moves]
    (plan,) = imagined(true_world(hash_net, broken=everything), simulations=40).plan([board], None, ANY)
    value = hash_net.one(board).value
    assert plan.value == value
    assert all(one.score == pytest.approx(value) for one in plan.moves)
    plies = plan.variation(best(plan)).plies
    assert plies is not None
    assert [(ply.state, ply.problem, ply.squares) for ply in plies] == [(None, "White has no king", "K" * 64)]
    assert len(plies[0].wrong) == 63  # all but e1


def test_the_rules_end_the_game_at_the_root_of_predicted_states(true_world: Any, played: Played) -> None:
    mate = chess.Move.from_uci("a1a8")
    world = true_world(Handmade(), broken=["a1a8"])  # whatever is predicted
    (plan,) = imagined(world, simulations=30).plan([chess.Board(MATE)], None, ANY)
    assert best(plan) == mate
    assert plan.moves[0].score == 1.0
    board = played(TRAP, SHUFFLE + "g1h1 g8h8 h1g1")
    again = chess.Move.from_uci("h8g8")
    (plan,) = imagined(true_world(Handmade()), simulations=30).plan([board], [[again]], ANY)
    assert plan.moves[0].score == 0.5
    (plan,) = imagined(true_world(Handmade()), simulations=30).plan([chess.Board(board.fen())], [[again]], ANY)
    assert plan.moves[0].score != 0.5  # without the history there is no draw


def behind(root: Node, uci: str) -> Node:
    move = chess.Move.from_uci(uci)
    child = root.children[root.moves.index(move)]
    assert child is not None
    return child


@pytest.mark.parametrize("dynamics", ["rules", "imagined"])
def test_repetition_and_fifty_moves_inside_the_tree(dynamics: str, true_world: Any, played: Played) -> None:
    """By the rules inside the tree; in a tree of predicted states only at the root."""
    world = true_world(Handmade())
    for board, first, second in (
        (played(TRAP, SHUFFLE + "g1h1 g8h8"), "h1g1", "h8g8"),
        (chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 98 90"), "a1a2", "e8e7"),
    ):
        planner = Mcts(world, Rules() if dynamics == "rules" else Imagined(world), Settings(simulations=300))
        tree = planner._new(board, [chess.Move.from_uci(first)])
        planner._search([tree], ANY)
        reply = behind(tree.root, first)
        child = reply.children[reply.moves.index(chess.Move.from_uci(second))]
        assert child is not None
        assert (child.exact == 0.5) is (dynamics == "rules")


def test_a_kept_tree_of_predicted_states_sees_the_history_at_its_new_root(true_world: Any, played: Played) -> None:
    """What was expanded inside the tree without a history is not kept where the history makes it a draw."""
    board = played(TRAP, SHUFFLE + "g1h1 g8h8")
    world = true_world(Handmade())
    planner = imagined(world, simulations=400)
    planner.plan_in_game(board, None, ANY)
    old = planner.trees[0]
    assert isinstance(old, ImaginedTree)
    again = chess.Move.from_uci("h8g8")
    reply = old.root.children[old.root.moves.index(chess.Move.from_uci("h1g1"))]
    assert reply is not None
    followed = reply.children[reply.moves.index(again)]
    assert followed is not None
    assert followed.exact is None
    board.push_uci("h1g1")
    plan = planner.plan_in_game(board, None, ANY)
    assert plan.root_move(again).score == 0.5
    assert planner.trees[0] is not old


def test_a_tree_of_predicted_states_is_kept_where_the_prediction_was_true(true_world: Any) -> None:
    for broken, kept in (([], True), (["e2e4"], False)):
        planner, board = imagined(true_world(Handmade(), broken=broken), simulations=200), chess.Board()
        planner.plan_in_game(board, None, ANY)
        tree = planner.trees[0]
        board.push_uci("e2e4")
        planner.plan_in_game(board, None, ANY)
        assert (planner.trees[0] is tree) is kept


@pytest.mark.parametrize("dynamics", ["rules", "imagined"])
def test_a_whole_game_on_one_tree(dynamics: str, true_world: Any) -> None:
    """One planner plays both sides from an ending, keeping its tree, past draws that nobody claims."""
    world = true_world(Handmade())
    planner = Mcts(world, Rules() if dynamics == "rules" else Imagined(world), Settings(simulations=16))
    board = chess.Board("8/5k2/8/8/3R4/4K3/8/8 w - - 90 60")
    for _ in range(40):
        if not any(board.legal_moves):
            break
        plan = planner.plan_in_game(board, None, ANY)
        assert board.is_legal(best(plan))
        assert sum(plan.policy.values()) == pytest.approx(1.0)
        board.push(best(plan))
    assert board.is_checkmate() or len(board.move_stack) == 40
