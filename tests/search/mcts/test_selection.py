"""Selection by hand-made numbers."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from diffusearch.search.mcts.conventions import FAIR
from diffusearch.search.mcts.node import Node, Tree
from diffusearch.search.mcts.selection import descend, first_play, scores
from diffusearch.search.mcts.settings import Settings

MOVES = [chess.Move.from_uci(uci) for uci in ("a2a3", "b2b3", "c2c3")]


def node(visits: list[int], total: list[float], priors: list[float], value: float = 0.6) -> Node:
    made = Node()
    made.expand(dict(zip(MOVES, priors, strict=True)), value)
    made.visits[:] = visits
    made.total[:] = total
    made.sum_visits, made.sum_total = sum(visits), sum(total)
    return made


def test_the_formula() -> None:
    found = scores(node([3, 1, 0], [1.8, 0.9, 0.0], [0.5, 0.3, 0.2]), Settings(cpuct=2.0, fpu=0.1))
    # Q + cpuct P sqrt(4) / (1 + N)
    assert found == pytest.approx([0.6 + 2 * 0.5 * 2 / 4, 0.9 + 2 * 0.3 * 2 / 2, 0.1 + 2 * 0.2 * 2 / 1])


def test_first_play_urgency() -> None:
    one = node([3, 1, 0], [1.8, 0.9, 0.0], [0.5, 0.3, 0.2])
    assert first_play(one, Settings(fpu=0.25)) == 0.25
    mean = (0.6 + 1.8 + 0.9) / 5  # the node's own value counts as one look
    assert first_play(one, Settings(fpu=None, reduction=0.3)) == pytest.approx(mean - 0.3 * np.sqrt(0.8))
    fresh = node([0, 0, 0], [0, 0, 0], [0.5, 0.3, 0.2])
    assert first_play(fresh, Settings(fpu=None)) == pytest.approx(0.6)


def test_a_simulation_under_way_counts_as_a_lost_visit() -> None:
    one = node([3, 1, 0], [1.8, 0.9, 0.0], [0.5, 0.3, 0.2])
    one.waiting[1] = 2
    found = scores(one, Settings(cpuct=0.0, fpu=0.1))
    assert found == pytest.approx([0.6, 0.9 / 3, 0.1])


def test_proven_losses_are_not_tried_while_something_else_is_left() -> None:
    one = node([3, 1, 0], [1.8, 0.9, 0.0], [0.5, 0.3, 0.2])
    one.closed[1] = True
    assert int(scores(one, Settings(cpuct=0.0)).argmax()) == 0
    one.closed[:] = True
    assert np.isfinite(scores(one, Settings())).all()


def test_the_likeliest_move_is_first_before_any_visit() -> None:
    assert int(scores(node([0, 0, 0], [0, 0, 0], [0.2, 0.5, 0.3]), Settings()).argmax()) == 0
    assert node([0, 0, 0], [0, 0, 0], [0.2, 0.5, 0.3]).moves[0] == MOVES[1]  # expansion puts it there


def test_descend_marks_its_way_and_ascend_restores_the_board() -> None:
    board = chess.Board()
    tree = Tree(board, FAIR)
    tree.root.expand(dict.fromkeys(board.legal_moves, 1 / 20), 0.5)
    path, leaf = descend(tree, Settings())
    assert len(path) == 1
    assert not leaf.expanded
    assert leaf.exact is None
    assert tree.root.waiting.sum() == 1
    assert len(tree.board.move_stack) == 1
    tree.ascend(len(path))
    assert tree.board == board
    assert not tree.board.move_stack
