"""What a search must find, for both colours: mates, traps, draws. And how it spends its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import chess
import pytest

from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.node import Node, Tree
from diffusearch.search.mcts.play import edge_value, principal_edges, ranking, shares
from diffusearch.search.mcts.search import search
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings

MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
MATE_IN_2 = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"  # 1.Ra6! bxa6 2.b7#
STALEMATE_TRAP = "8/2p5/k7/4Q3/2K1R3/8/8/8 w - - 0 1"  # Qxc7 is stalemate
POISONED_PAWN = "4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1"  # Qxd6 cxd6
FAIR_SETTINGS = [Settings(), Settings(prove=False), PAPER]


def searched(board: chess.Board, settings: Settings, simulations: int) -> Tree:
    tree = Tree(board, settings.conventions)
    search([tree], Handmade(), replace(settings, simulations=simulations))
    return tree


def best(tree: Tree, settings: Settings) -> str:
    return tree.root.moves[ranking(tree.root, settings)[0]].uci()


def both(fen: str, uci: str) -> list[tuple[chess.Board, str]]:
    """A position and its mirror image with the colours changed."""
    board, move = chess.Board(fen), chess.Move.from_uci(uci)
    mirrored = chess.Move(chess.square_mirror(move.from_square), chess.square_mirror(move.to_square), move.promotion)
    return [(board, uci), (board.mirror(), mirrored.uci())]


@pytest.mark.parametrize("settings", FAIR_SETTINGS)
def test_mate_in_one(settings: Settings) -> None:
    for board, mate in both(MATE_IN_1, "a1a8"):
        tree = searched(board, settings, 100)
        assert best(tree, settings) == mate
        assert edge_value(tree.root, ranking(tree.root, settings)[0], settings) == 1.0


def test_mate_in_one_is_missed_as_published() -> None:
    for board, mate in both(MATE_IN_1, "a1a8"):
        tree = searched(board, AS_PUBLISHED, 200)
        edge = [move.uci() for move in tree.root.moves].index(mate)
        assert best(tree, AS_PUBLISHED) != mate
        assert tree.root.total[edge] == -tree.root.visits[edge]  # every look at the mate counts as a loss


def test_mate_in_two_is_found_and_proven() -> None:
    for board, key in both(MATE_IN_2, "a1a6"):
        tree = searched(board, Settings(), 400)
        assert best(tree, Settings()) == key
        assert tree.root.exact == 1.0
        assert tree.root.distance == 3
        for node, edge in principal_edges(tree.root, ranking(tree.root, Settings())[0], Settings()):
            move = node.moves[edge]
            assert move in board.legal_moves
            board.push(move)
        assert board.is_checkmate()


@pytest.mark.parametrize("settings", FAIR_SETTINGS)
def test_stalemate_trap(settings: Settings) -> None:
    for board, trap in both(STALEMATE_TRAP, "e5c7"):
        tree = searched(board, settings, 100)
        edge = [move.uci() for move in tree.root.moves].index(trap)
        assert best(tree, settings) != trap
        if tree.root.visits[edge] > 0:  # it was looked at, and seen as a draw
            assert edge_value(tree.root, edge, settings) == 0.5


@pytest.mark.parametrize("settings", FAIR_SETTINGS)
def test_poisoned_pawn(settings: Settings) -> None:
    for board, poison in both(POISONED_PAWN, "d2d6"):
        assert best(searched(board, settings, 50), settings) != poison


def test_the_losing_side_goes_for_the_draw_by_repetition(played: Callable[[str, str], chess.Board]) -> None:
    # White has the worse of it but can reach the position after Qe8+ a third time.
    fen = "6k1/6p1/8/8/8/8/r4r2/4Q2K w - - 0 1"
    history = "e1e8 g8h7 e8h5 h7g8 h5e8 g8h7 e8h5 h7g8"
    for settings in (Settings(), replace(PAPER, cpuct=0.5)):
        tree = searched(played(fen, history), settings, 60)
        assert best(tree, settings) == "h5e8"
        assert edge_value(tree.root, ranking(tree.root, settings)[0], settings) == 0.5


def test_a_drawn_root_is_searched_all_the_same(played: Callable[[str, str], chess.Board]) -> None:
    repeated = played(chess.STARTING_FEN, "g1f3 g8f6 f3g1 f6g8 " * 2)
    for board in (
        repeated,
        chess.Board("8/8/4k3/8/8/3K4/8/8 w - - 0 1"),
        chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 120 90"),
    ):
        tree = searched(board, Settings(), 30)
        assert tree.root.moves[ranking(tree.root, Settings())[0]] in board.legal_moves


def test_lost_whatever_is_played_the_longest_way_is_taken() -> None:
    board = chess.Board("8/8/8/8/8/2k5/8/K2r4 w - - 0 1")  # one move, then mate
    tree = searched(board, Settings(), 200)
    assert best(tree, Settings()) == "a1a2"


def test_colours_are_alike(hash_net: Any) -> None:
    """A network that is fair to the colours makes a search that is: mirrored trees have mirrored visits."""
    board = chess.Board("r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/3P1N2/PPP2PPP/RNBQK2R w KQkq - 1 5")
    for settings in (Settings(), PAPER, AS_PUBLISHED):
        visits = []
        for one in (board, board.mirror()):
            tree = Tree(one, settings.conventions)
            search([tree], hash_net, settings)
            visits.append(
                {
                    hash_net.upright(one, move): n
                    for move, n in zip(tree.root.moves, tree.root.visits.tolist(), strict=True)
                }
            )
        assert visits[0] == visits[1]


@pytest.mark.parametrize("parallel", [1, 3, 16])
def test_the_budget_is_kept_and_nothing_is_left_waiting(parallel: int, hash_net: Any) -> None:
    tree = Tree(chess.Board(), Settings().conventions)
    settings = Settings(simulations=100, parallel=parallel)
    (spent,) = search([tree], hash_net, settings)
    assert tree.root.sum_visits == tree.root.visits.sum() == 100
    assert spent.evaluated == 101  # the root, and no game ended
    assert sum(hash_net.batches) == 101
    assert spent.calls == len(hash_net.batches)
    assert max(hash_net.batches) <= parallel

    def check(node: Node) -> None:
        if node.expanded:
            assert not node.waiting.any()
            assert node.sum_total == pytest.approx(node.total.sum())
            for edge, child in enumerate(node.children):
                if child is not None and child.expanded:
                    assert child.sum_visits == node.visits[edge] - 1
                    check(child)

    check(tree.root)


def test_many_trees_share_batches_and_keep_to_themselves(hash_net: Any) -> None:
    boards = [chess.Board()]
    for uci in ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"]:
        following = boards[-1].copy()
        following.push_uci(uci)
        boards.append(following)
    settings = Settings(simulations=40, parallel=4)
    alone = []
    for board in boards:
        tree = Tree(board, settings.conventions)
        search([tree], hash_net, settings)
        alone.append(tree.root.visits.tolist())
    hash_net.batches.clear()
    trees = [Tree(board, settings.conventions) for board in boards]
    search(trees, hash_net, settings)
    assert [tree.root.visits.tolist() for tree in trees] == alone
    assert len(hash_net.batches) < sum(hash_net.batches) / 10  # 7 trees of 4 leaves: up to 28 a call


def test_more_simulations_grow_deeper_shares_stay_shares(hash_net: Any) -> None:
    tree = Tree(chess.Board(), Settings().conventions)
    totals = []
    for _ in range(3):
        search([tree], hash_net, Settings(simulations=50))
        totals.append(tree.root.sum_visits)
        assert shares(tree.root).sum() == pytest.approx(1.0)
    assert all(later - earlier == 50 for earlier, later in pairwise(totals))


def test_seconds_stop_a_search_but_the_root_is_always_expanded(hash_net: Any) -> None:
    tree = Tree(chess.Board(), Settings().conventions)
    search([tree], hash_net, Settings(simulations=10**9), seconds=0.0)
    assert tree.root.expanded
    assert 0 < tree.root.sum_visits <= Settings().parallel


def test_no_simulation_at_all_plays_the_prior(hash_net: Any) -> None:
    tree = Tree(chess.Board(), Settings().conventions)
    search([tree], hash_net, Settings(simulations=0))
    priors = hash_net.one(chess.Board()).priors
    assert tree.root.moves[ranking(tree.root, Settings())[0]] == max(priors, key=lambda move: priors[move])
