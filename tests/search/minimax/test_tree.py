"""The tree of fixed widths: whose values it holds, which ends it knows, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import chess
import pytest

from diffusearch.search.dynamics import Dynamics, Imagined, Rules
from diffusearch.search.evaluator import DOUBT
from diffusearch.search.minimax.backup import half_max
from diffusearch.search.minimax.tree import MinimaxNode, Widths, calls, evaluations, further, grow, grow_on, holds

TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
SHUFFLE = "g1h1 g8h8 h1g1 h8g8 "
Played = Callable[[str, str], chess.Board]


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def turned(uci: str) -> str:
    move = chess.Move.from_uci(uci)
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56).uci()


def position(fen: str, mirrored: bool) -> chess.Board:
    return chess.Board(fen).mirror() if mirrored else chess.Board(fen)


def worlds(net: Any) -> list[Dynamics]:
    return [Imagined(net), Rules()]


def grown(net: Any, dynamics: Dynamics, board: chess.Board, widths: Widths) -> MinimaxNode:
    (root,) = grow(net, dynamics, [board], None, widths)
    return root


@pytest.mark.parametrize("mirrored", [False, True])
def test_values_are_the_players_at_every_level(mirrored: bool, greedy: Any) -> None:
    net, own = greedy(value=0.7), logit(0.7)  # whoever is to move wins with 0.7
    for dynamics in worlds(net):
        root = grown(net, dynamics, position(TRAP, mirrored), (2, 3))
        one, other = root.children.values()
        assert one
        assert other
        assert (root.odds, one.odds, other.odds) == pytest.approx((own, -own, -own))
        assert [node.odds for node in one.children.values() if node] == pytest.approx([own] * 3)


@pytest.mark.parametrize("mirrored", [False, True])
def test_ends_inside_the_tree(mirrored: bool, greedy: Any) -> None:
    board = position("8/5K1k/8/6Q1/8/8/8/8 b - - 0 1", mirrored)  # the king must step into the corner
    net = greedy(value=0.7)
    for dynamics in worlds(net):
        root = grown(net, dynamics, board, (1, 64, 1))
        (corner,) = root.children.values()
        assert corner
        ends = {turned(move.uci()) if mirrored else move.uci(): node for move, node in corner.children.items() if node}
        assert (ends["g5g7"].odds, ends["g5g6"].odds) == pytest.approx((logit(DOUBT), 0.0))  # mate, stalemate
        assert ends["g5g7"].over
        assert not ends["g5g6"].children
        assert half_max(root, corner) == pytest.approx(logit(DOUBT))
        assert not ends["g5a5"].over
        assert len(ends["g5a5"].children) == 1


def test_the_history_of_the_game_is_seen_at_the_root(greedy: Any, played: Played) -> None:
    board = played(TRAP, SHUFFLE + "g1h1 g8h8 h1g1")  # the third time is one move away
    net = greedy(value=0.7)
    for dynamics in worlds(net):
        root = grown(net, dynamics, board, (64,))
        again = root.children[chess.Move.from_uci("h8g8")]
        assert again
        assert (again.over, again.odds) == (True, 0.0)
        assert again.board.epd() == chess.Board(TRAP).epd()  # the position behind the move
        assert root.board.epd() == board.epd() != again.board.epd()


def test_the_fifty_move_rule_is_seen_at_the_root(greedy: Any) -> None:
    net = greedy(value=0.7)
    for dynamics in worlds(net):
        root = grown(net, dynamics, chess.Board("4k3/7p/8/8/8/8/8/R3K2R w - - 99 90"), (64,))
        quiet, takes = (root.children[chess.Move.from_uci(uci)] for uci in ("a1a2", "h1h7"))
        assert quiet
        assert takes
        assert (quiet.over, takes.over) == (True, False)


def test_only_the_rules_see_the_history_inside_the_tree(greedy: Any, played: Played) -> None:
    board = played(TRAP, SHUFFLE + "g1h1 g8h8")  # the third time is two moves away
    net = greedy(value=0.7, h1g1=100.0, h8g8=100.0)
    for dynamics, drawn in zip(worlds(net), (False, True), strict=True):
        root = grown(net, dynamics, board, (1, 1, 1))
        (back,) = root.children.values()
        assert back
        assert not back.over
        (again,) = back.children.values()
        assert again
        assert again.over is drawn
        assert (again.odds == 0.0) is drawn


def test_only_the_rules_see_the_fifty_move_rule_inside_the_tree(greedy: Any) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 98 90")
    net = greedy(value=0.7)
    for dynamics, drawn in zip(worlds(net), (False, True), strict=True):
        root = grown(net, dynamics, board, (1, 1, 1))
        (first,) = root.children.values()
        assert first
        assert not first.over
        (second,) = first.children.values()
        assert second
        assert second.over is drawn


def test_trees_of_a_batch_share_their_network_calls(greedy: Any) -> None:
    net = greedy()
    boards = [chess.Board(TRAP), chess.Board(), chess.Board(TRAP).mirror()]
    roots = grow(net, Imagined(net), boards, None, (3, 2))
    assert net.asked == [(3, True), (9, True), (18, False)]
    assert net.predicted == [9, 18]
    assert [root.evaluations for root in roots] == [1 + 2 * 3 + 2 * 6] * 3
    assert [root.calls for root in roots] == [5] * 3


@pytest.mark.parametrize("widths", [(4,), (4, 2), (4, 2, 2, 1), (1, 1, 1)])
def test_the_cost_of_a_whole_tree_is_known_before(widths: Widths, greedy: Any) -> None:
    net = greedy()
    for dynamics in worlds(net):
        net.asked.clear()
        net.predicted.clear()
        root = grown(net, dynamics, chess.Board(), widths)
        predicted = isinstance(dynamics, Imagined)
        spent = sum(count for count, _ in net.asked) + sum(net.predicted)
        assert root.evaluations == evaluations(widths, predicted=predicted) == spent
        assert root.calls == calls(widths, predicted=predicted) == len(net.asked) + len(net.predicted)
    assert evaluations((4, 2, 2, 1)) == 89  # 45 positions are evaluated, 44 of them predicted


def test_a_tree_that_ends_early_costs_what_was_asked(greedy: Any) -> None:
    board = chess.Board()
    blind = greedy(blind=[move.uci() for move in board.legal_moves])
    root = grown(blind, Imagined(blind), board, (8, 2))
    assert blind.asked == [(1, True)]
    assert blind.predicted == [8]
    assert (root.calls, root.evaluations) == (2, 9)
    assert set(root.children.values()) == {None}


def shape(node: MinimaxNode | None) -> Any:
    """A tree to compare, without how often the network looked."""
    if node is None:
        return None
    below = [(move, shape(child)) for move, child in node.children.items()]
    return node.board.fen(), node.odds, node.over, node.priors, node.predicted, below


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_tree_that_is_grown_on_equals_one_grown_at_once(mirrored: bool, greedy: Any) -> None:
    board, few = position(TRAP, mirrored), position("8/5K1k/8/6Q1/8/8/8/8 b - - 0 1", mirrored)
    blind = ["d2d7", turned("d2d7")]
    for net in (greedy(blind=blind), greedy()):
        for dynamics in worlds(net):
            roots = grow(net, dynamics, [board, few], None, (4, 2, 2, 1))
            for widths in ((6, 3, 2, 2, 1), (8, 4, 3, 2, 1)):
                grow_on(net, dynamics, roots, None, widths)
                assert [shape(root) for root in roots] == [
                    shape(root) for root in grow(net, dynamics, [board, few], None, widths)
                ]


def test_growing_on_computes_only_what_is_new(greedy: Any) -> None:
    for net in (greedy(), greedy()):
        for dynamics, predicted in zip(worlds(net), (True, False), strict=True):
            root = grown(net, dynamics, chess.Board(), (4, 2, 2, 1))
            kept: Widths = (4, 2, 2, 1)
            for widths in ((6, 3, 2, 2, 1), (8, 4, 3, 2, 1), (8, 4, 3, 2, 1)):
                net.asked.clear()
                net.predicted.clear()
                before = root.evaluations
                made = grow_on(net, dynamics, [root], None, widths)
                assert made == len(net.asked) + len(net.predicted)
                spent = sum(count for count, _ in net.asked) + sum(net.predicted)
                assert spent == root.evaluations - before == further(kept, widths, predicted=predicted)
                kept = widths
    assert further((4, 2, 2, 1), (6, 3, 2, 2, 1)) == 336
    assert holds((4, 2), (4,))
    assert not holds((4,), (4, 2))
    assert not holds((4, 1), (4, 2))
