"""Tree reuse: the subtree of the moves played is kept, and only then."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from diffusearch.search.mcts.conventions import FAIR, PUBLISHED
from diffusearch.search.mcts.node import Tree
from diffusearch.search.mcts.search import search
from diffusearch.search.mcts.settings import Settings


@pytest.fixture
def tree(hash_net: Any) -> Tree:
    board = chess.Board()
    made = Tree(board, FAIR)
    search([made], hash_net, Settings(simulations=120, parallel=1))
    return made


def visited(tree: Tree) -> chess.Move:
    return tree.root.moves[int(tree.root.visits.argmax())]


def test_follow_keeps_the_subtree_with_its_statistics(tree: Tree) -> None:
    board = chess.Board()
    board.push(visited(tree))
    below = tree.root.children[int(tree.root.visits.argmax())]
    assert below is not None
    before = below.sum_visits
    assert tree.follow(board)
    assert tree.root is below
    assert tree.root.sum_visits == before > 0
    assert tree.board == board
    assert tree.board.move_stack == board.move_stack
    assert tree.follow(board)  # asked again for the same position: nothing changes
    assert tree.root is below


def test_follow_refuses_other_games(tree: Tree) -> None:
    board = chess.Board()
    board.push(visited(tree))
    assert not tree.follow(chess.Board(board.fen()))  # same position, but reached by no moves: history may differ
    assert not tree.follow(chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"))
    far = chess.Board()
    for uci in ["a2a3", "a7a6", "a3a4", "a6a5", "b2b3", "b7b6", "b3b4", "b6b5"]:
        far.push_uci(uci)
    assert not tree.follow(far)


def test_follow_refuses_to_go_back(tree: Tree) -> None:
    board = chess.Board()
    board.push(visited(tree))
    assert tree.follow(board)
    assert not tree.follow(chess.Board())


def test_a_restricted_tree_is_not_reused(hash_net: Any) -> None:
    only = chess.Move.from_uci("a2a3")
    tree = Tree(chess.Board(), FAIR, [only])
    search([tree], hash_net, Settings(simulations=10))
    assert tree.root.moves == [only]
    assert tree.root.prior.tolist() == [1.0]
    board = chess.Board()
    board.push(only)
    assert not tree.follow(board)


def test_reuse_continues_exactly_where_it_was(hash_net: Any) -> None:
    """Searching the kept subtree further adds to its visits; they sum as if they had been made there."""
    settings = Settings(simulations=50, parallel=1)
    tree = Tree(chess.Board(), FAIR)
    search([tree], hash_net, settings)
    board = chess.Board()
    board.push(visited(tree))
    tree.follow(board)
    kept = tree.root.sum_visits
    search([tree], hash_net, settings)
    assert tree.root.sum_visits == kept + 50


def test_only_the_published_search_merges_transpositions(hash_net: Any) -> None:
    for conventions, shared in ((FAIR, False), (PUBLISHED, True)):
        tree = Tree(chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1"), conventions)
        for way in ("e1e2 e8e7 h1h2", "h1h2 e8e7 e1e2"):
            node = tree.root
            for uci in way.split():
                if not node.expanded:
                    node.expand(dict.fromkeys(tree.board.legal_moves, 1.0), 0.5)
                edge = node.moves.index(chess.Move.from_uci(uci))
                node = tree.descend(node, edge)
            tree.ascend(len(way.split()))
            last = node if way.startswith("h1") else None
            if last is None:
                first = node
        assert (last is first) == shared
