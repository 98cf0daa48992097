"""Minimax: the first move is chosen by what comes of it, not by its prior alone."""

from __future__ import annotations

import math
from typing import Any

import chess
import pytest

from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.evaluator import DOUBT
from diffusearch.search.minimax.planner import VALUE_WEIGHT, WIDER, WIDTHS, Minimax
from diffusearch.search.minimax.tree import Widths
from diffusearch.search.planner import Budget, Plan

# White's queen can take a pawn that is guarded: likely by its prior, lost two plies on.
TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"
CORNER = "k7/8/2K5/8/8/8/8/1R6 w - - 0 1"  # mate in two: Kc7 Ka7, Ra1


@pytest.fixture(params=["imagined", "rules"])
def dynamics(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def turned(uci: str) -> str:
    move = chess.Move.from_uci(uci)
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56).uci()


def position(fen: str, mirrored: bool) -> chess.Board:
    return chess.Board(fen).mirror() if mirrored else chess.Board(fen)


def planned(
    net: Any, board: chess.Board, widths: Widths, weight: float = 2.0, dynamics: str = "imagined", **budget: Any
) -> Plan:
    planner = Minimax(net, Imagined(net) if dynamics == "imagined" else Rules(), widths, weight)
    (plan,) = planner.plan([board], None, Budget(**budget))
    assert sum(plan.policy.values()) == pytest.approx(1.0)
    shares = [one.share for one in plan.moves]
    assert shares == sorted(shares, reverse=True)
    assert set(plan.policy) == set(board.legal_moves)
    return plan


def played(*arguments: Any, **more: Any) -> str:
    return planned(*arguments, **more).moves[0].move.uci()


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_poisoned_pawn_is_left_alone_when_its_replies_are_followed(
    mirrored: bool, dynamics: str, greedy: Any
) -> None:
    board = position(TRAP, mirrored)
    takes = turned("d2d5") if mirrored else "d2d5"
    assert played(greedy(), board, (64, 2), 0.0, dynamics) == takes
    assert played(greedy(), board, (64,), 2.0, dynamics) == takes  # a ply deep it has won a pawn
    assert played(greedy(), board, (64, 2), 2.0, dynamics) != takes


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_refutation_that_is_the_second_likeliest_reply_needs_a_width_of_two(
    mirrored: bool, dynamics: str, greedy: Any
) -> None:
    board, quiet, takes = position(TRAP, mirrored), "g8h8", "d2d5"
    quiet, takes = (turned(quiet), turned(takes)) if mirrored else (quiet, takes)
    net = greedy(**{quiet: 50.0})
    assert played(net, board, (64, 1), 2.0, dynamics) == takes
    assert played(net, board, (64, 2), 2.0, dynamics) != takes


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mate_at_the_root_is_known_by_the_rules_whatever_is_predicted(mirrored: bool, greedy: Any) -> None:
    board = position(MATE, mirrored)
    board.push_uci(played(greedy(blind=["d1d8", "d8d1"]), board, (64,), 5.0))
    assert board.is_checkmate()


@pytest.mark.parametrize("mirrored", [False, True])
def test_scores_are_win_probabilities_between_root_and_leaf(mirrored: bool, dynamics: str, greedy: Any) -> None:
    """Whoever is to move wins with 0.7, by the network; with the mate in sight it is more."""
    plan = planned(greedy(value=0.7), position(MATE, mirrored), (64,), VALUE_WEIGHT, dynamics)
    best = plan.moves[0]
    assert best.score == pytest.approx(1.0 / (1.0 + math.exp(-(logit(0.7) + logit(1.0 - DOUBT)) / 2)))
    assert best.value == pytest.approx(1.0 - DOUBT)
    assert plan.moves[1].value == pytest.approx(0.3)
    assert plan.moves[1].score == pytest.approx(0.5)
    assert plan.value == pytest.approx(0.7)
    assert (plan.legal_mass, plan.raw_legal) == (0.9, True)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mate_in_two_is_found_in_three_plies(mirrored: bool, dynamics: str, greedy: Any) -> None:
    likes = {"b1b8": 5.0, "b1b2": 3.0, "c6c7": 2.0, "b1a1": 2.0}
    net = greedy(**{turned(uci) if mirrored else uci: weight for uci, weight in likes.items()})
    board = position(CORNER, mirrored)
    found = [played(net, board, widths, 4.0, dynamics) for widths in ((8, 8), (8, 8, 8))]
    found.append(played(net, board, (8, 8, 8), 4.0, dynamics, calls=1))  # one look
    assert [turned(uci) if mirrored else uci for uci in found] == ["b1b2", "c6c7", "b1b8"]  # b1b2 saves the rook


def test_without_a_valid_state_the_priors_decide(greedy: Any) -> None:
    board = chess.Board(TRAP)
    blind = greedy(blind=[move.uci() for move in board.legal_moves])
    plan = planned(blind, board, (8, 2), 5.0)
    assert plan.moves[0].move.uci() == "d2d5"
    assert plan.moves[0].value is None
    assert plan.moves[0].score == pytest.approx(plan.value)
    assert played(greedy(blind=["d2d5"]), board, (64, 2)) == "d2d5"  # not seen to be bad
    assert played(greedy(blind=["d8d5"]), board, (64, 1)) == "d2d5"  # nor its refutation


def test_moves_that_are_not_followed_keep_their_priors(greedy: Any) -> None:
    net = greedy()
    plan = planned(net, chess.Board(TRAP), (3,))
    followed = [one for one in plan.moves if one.score is not None]
    assert len(followed) == 3
    assert sum(one.share for one in followed) == pytest.approx(sum(one.prior for one in followed))
    assert all(one.share == one.prior for one in plan.moves if one.score is None)
    (first,) = net.evaluate([chess.Board(TRAP)])
    assert {one.move: one.prior for one in plan.moves} == first.priors


@pytest.mark.parametrize(
    ("budget", "depth"),
    [
        ({"calls": 1}, 0),
        ({"calls": 2}, 0),
        ({"calls": 3}, 1),
        ({"calls": 6}, 2),
        ({"calls": 8}, 3),
        ({"calls": 9}, 4),
        ({"calls": 20}, 4),
        ({"depth": 2}, 2),
        ({"depth": 9}, 4),
        ({"evaluations": 8}, 0),
        ({"evaluations": 9}, 1),
        ({"evaluations": 25}, 2),
        ({"evaluations": 56}, 2),
        ({"evaluations": 57}, 3),
        ({"evaluations": 89}, 4),
        ({"depth": 3, "calls": 5}, 2),
        ({}, 4),
    ],
)
def test_a_budget_cuts_the_depth(budget: dict[str, int], depth: int, greedy: Any) -> None:
    net = greedy()
    planner = Minimax(net, Imagined(net))
    assert planner.within(Budget(**budget)) == WIDTHS[:depth] == (4, 2, 2, 1)[:depth]
    (plan,) = planner.plan([chess.Board()], None, Budget(**budget))
    assert plan.calls == len(net.asked) + len(net.predicted) == (2 * depth + 1)
    assert plan.evaluations == sum(count for count, _ in net.asked) + sum(net.predicted)
    if list(budget) == ["calls"]:
        assert planner.work(budget["calls"]) == plan.evaluations


@pytest.mark.parametrize(("calls", "depth"), [(1, 0), (2, 1), (3, 2), (5, 4), (9, 4)])
def test_where_the_rules_make_the_states_calls_reach_deeper(calls: int, depth: int, greedy: Any) -> None:
    net = greedy()
    (plan,) = Minimax(net, Rules()).plan([chess.Board()], None, Budget(calls=calls))
    assert plan.calls == len(net.asked) == depth + 1 <= calls
    assert not net.predicted
    assert Minimax(net, Rules()).work(calls) == plan.evaluations == sum(count for count, _ in net.asked)


def test_one_look_has_no_line(greedy: Any) -> None:
    plan = planned(greedy(), chess.Board(TRAP), (4, 2), calls=1)
    assert all(one.share == one.prior and one.score is None for one in plan.moves)
    assert plan.variation(plan.moves[0].move).moves == (plan.moves[0].move,)


def test_a_batch_is_as_one_by_one_and_first_moves_can_be_narrowed(dynamics: str, greedy: Any) -> None:
    boards = [chess.Board(TRAP), chess.Board(), chess.Board(TRAP).mirror(), chess.Board(MATE)]
    net = greedy()
    planner = Minimax(net, Imagined(net) if dynamics == "imagined" else Rules(), (3, 2, 2), 2.0)
    for board, plan in zip(boards, planner.plan(boards, None, Budget()), strict=True):
        (alone,) = planner.plan([board], None, Budget())
        assert (alone.moves, alone.calls, alone.evaluations) == (plan.moves, plan.calls, plan.evaluations)
        line, other = alone.variation(plan.moves[0].move), plan.variation(plan.moves[0].move)
        assert (line, line.plies) == (other, other.plies)
    names = (("h2h3", "g2g3"), ("a2a3",), ("h7h6",), ("g2g3",))
    legal = [[chess.Move.from_uci(uci) for uci in own] for own in names]
    for own, plan in zip(legal, planner.plan(boards, legal, Budget()), strict=True):
        assert set(plan.policy) == set(own)
        assert sum(plan.policy.values()) == pytest.approx(1.0)


def test_the_horizon_is_the_depth_of_the_widths(greedy: Any) -> None:
    assert Minimax(greedy(), Rules(), (4, 2)).horizon == 2
    assert Minimax(greedy(), Rules()).horizon == 4


def test_more_evaluations_than_the_default_tree_needs_give_a_wider_one(greedy: Any) -> None:
    planner = Minimax(greedy(), Rules())
    assert planner.within(Budget()) == planner.within(Budget(evaluations=100)) == WIDTHS
    assert planner.within(Budget(evaluations=10_000)) == WIDER[-1]
    assert planner.within(Budget(evaluations=10_000, depth=3)) == WIDTHS[:3]
    assert planner.within(Budget(evaluations=10_000, calls=5)) == WIDTHS
    assert Minimax(greedy(), Rules(), (3, 2)).within(Budget(evaluations=10_000)) == (3, 2)  # as it was asked for


def test_a_plan_is_resumed_in_the_same_position_alone(greedy: Any) -> None:
    net = greedy()
    planner, board, more = Minimax(net, Imagined(net)), chess.Board(), Budget(resume=True)
    assert planner.further(None) == 0
    first = planner.plan_in_game(board, None, Budget())
    assert (first.calls, first.evaluations) == (9, 89)
    counts = []
    for _ in WIDER:
        counts.append(planner.further(None))
        plan = planner.plan_in_game(board, None, more)
        assert plan.evaluations == counts[-1]
    assert counts == [336, 632, 520]
    (anew,) = planner.plan([board], None, Budget(evaluations=10_000))
    assert plan.moves == anew.moves
    assert planner.further(None) == planner.plan_in_game(board, None, more).evaluations == 0
    e4, d4 = chess.Move.from_uci("e2e4"), chess.Move.from_uci("d2d4")
    assert planner.plan_in_game(board, [[e4, d4]], more).evaluations == 45  # other root moves: two first moves anew
    board.push(e4)
    assert planner.plan_in_game(board, None, more).evaluations == 89
    assert planner.further(4) == 0  # all wider ones are deeper
    planner.new_game()
    assert planner.further(None) == 0
    own = Minimax(net, Imagined(net), (3, 2))
    own.plan_in_game(board, None, Budget())
    assert own.further(None) == 0


def test_first_moves_far_behind_are_not_searched_deeper(greedy: Any) -> None:
    """The queen that is lost is behind after two plies; with no margin at all one move is left from there on."""

    def plan(margin: float) -> Plan:
        net = greedy()
        (found,) = Minimax(net, Imagined(net), (4, 2, 2, 1), 2.0, margin=margin).plan(
            [chess.Board(TRAP)], None, Budget()
        )
        return found

    whole, some, none = plan(math.inf), plan(2.0), plan(0.0)
    assert none.evaluations < some.evaluations < whole.evaluations
    assert (some.moves[0].move, some.moves[0].score) == (whole.moves[0].move, whole.moves[0].score)
    assert some.variation(some.moves[0].move) == whole.variation(whole.moves[0].move)
    shorter, longer = (one.variation(chess.Move.from_uci("d2d5")).moves for one in (some, whole))
    assert len(shorter) < len(longer) == 4


def test_a_tree_with_a_margin_is_grown_on_within_what_is_told(greedy: Any) -> None:
    net = greedy()
    planner = Minimax(net, Imagined(net), margin=2.0)
    planner.plan_in_game(chess.Board(TRAP), None, Budget())
    most = planner.further(None)
    assert 0 < planner.plan_in_game(chess.Board(TRAP), None, Budget(resume=True)).evaluations <= most
