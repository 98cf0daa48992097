"""Drafts: the likeliest moves and replies, signs of the values, ends of games, and the calls that they take."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import pytest

from diffusearch.drafts.drafting import Draft, Drafter
from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.evaluator import log_odds
from diffusearch.tokens.drafts import BEFORE


class Ranked:
    """Prefers moves in the order of their UCI; the value of a position is a number for each side to move."""

    def __init__(self, white: float = 0.7, black: float = 0.4) -> None:
        self.values = {chess.WHITE: white, chess.BLACK: black}
        self.calls: list[tuple[int, bool]] = []

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        self.calls.append((len(boards), priors))
        return [Evaluation(self.ranked(board) if priors else {}, self.values[board.turn]) for board in boards]

    def ranked(self, board: chess.Board) -> dict[chess.Move, float]:
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        shares = [2.0**-at for at in range(len(moves))]
        return {move: share / sum(shares) for move, share in zip(moves, shares, strict=True)}


def drafts_of(board: chess.Board, net: Ranked, count: int = 3, depth: int = 3) -> list[Draft]:
    (drafts,) = Drafter(net, Rules()).first_lines([board], net.evaluate([board]), count, depth)
    return drafts


def test_the_likeliest_moves_are_followed_greedily() -> None:
    board, net = chess.Board(), Ranked()
    drafts = drafts_of(board, net)
    assert [draft.move.uci() for draft in drafts] == ["a2a3", "a2a4", "b1a3"]
    first = drafts[0]
    assert [None if node is None else node.move.uci() for node in first.nodes] == ["a2a3", "a7a5", "a1a2", None, None]
    assert len(first.lines()) == 1
    assert net.calls == [(1, True), (3, True), (3, True), (3, False)]  # the last moves are not asked for


def test_second_lines_begin_with_the_second_reply() -> None:
    board, net = chess.Board(), Ranked()
    (draft,) = drafts_of(board, net, 1)
    assert not draft.has_second
    Drafter(net, Rules()).second_lines([draft], 3)
    assert draft.has_second
    lines = [" ".join(node.move.uci() for node in line) for line in draft.lines()]
    assert lines == ["a2a3 a7a5 a1a2", "a2a3 a7a6 a1a2"]
    after = board.copy()
    for node in (0, 3, 4):
        found = draft.nodes[node]
        assert found is not None
        assert found.board is not None
        after.push(found.move)
        assert found.board.fen() == after.fen()


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"])
def test_values_are_those_of_the_mover_at_the_root(fen: str) -> None:
    board, net = chess.Board(fen), Ranked(white=0.7, black=0.4)
    mover, other = net.values[board.turn], net.values[not board.turn]
    (draft,) = drafts_of(board, net, 1)
    odds = [node.odds for node in draft.nodes[:3] if node is not None]
    assert odds == pytest.approx([-log_odds(other), log_odds(mover), -log_odds(other)])


def test_a_mate_ends_a_draft_and_counts_for_the_side_that_mates() -> None:
    board = chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    net = Ranked()
    drafts = drafts_of(board, net, count=len(list(board.legal_moves)))
    mate = next(draft for draft in drafts if draft.move.uci() == "a1a8")
    first = mate.nodes[0]
    assert first is not None
    assert first.over
    assert first.odds > 5.0
    assert first.evaluation is None
    assert mate.nodes[1:] == [None] * 4
    assert mate.has_second  # there is nothing to draft after it


class World(Ranked):
    """Predicts states by the rules, without history, or (blind) none that is a position."""

    def __init__(self, blind: bool = False) -> None:
        super().__init__()
        self.blind, self.predictions = blind, 0

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        self.predictions += 1
        if self.blind:
            return [PredictedState(None, "White has no king", "." * 64) for _ in moves]
        found = Rules().step(boards, evaluations, moves)
        return [PredictedState(chess.Board(one.board.fen())) for one in found if one.board is not None]


ENDS = [
    (chess.STARTING_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1", "f6g8", 0.0),  # third repetition
    ("4k3/p7/8/8/8/8/8/R3K3 w - - 99 90", "", "a1a2", 0.0),  # fifty moves
    ("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1", "", "e1d2", 0.0),  # insufficient material
    ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 90", "", "a1a8", log_odds(1.0)),
]


@pytest.mark.parametrize(("fen", "played", "uci", "odds"), ENDS)
@pytest.mark.parametrize("blind", [False, True])
def test_the_rules_end_a_draft_after_its_first_move(fen: str, played: str, uci: str, odds: float, blind: bool) -> None:
    board, move, world = chess.Board(fen), chess.Move.from_uci(uci), World(blind)
    for one in played.split():
        board.push_uci(one)
    drafter, root = Drafter(world, Imagined(world)), Evaluation({move: 1.0}, 0.9)
    ((draft,),) = drafter.first_lines([board], [root], 1, 3)
    ((by_rules,),) = Drafter(world, Rules()).first_lines([board], [root], 1, 3)  # as the reader was trained
    first, true = draft.nodes[0], by_rules.nodes[0]
    assert first is not None
    assert true is not None
    assert first.predicted is not None
    assert (first.over, first.evaluation, first.odds) == (True, None, pytest.approx(odds))
    assert (first.board, first.over, first.odds) == (true.board, true.over, true.odds)
    assert draft.nodes[1:] == [None] * 4
    assert draft.has_second
    assert (drafter.calls, world.predictions, world.calls) == (1, 1, [])


def test_a_single_reply_has_no_second_line() -> None:
    board = chess.Board("7k/8/5K2/8/8/8/8/6R1 w - - 0 1")
    net = Ranked()
    (draft,) = Drafter(net, Rules()).first_lines([board], [Evaluation({chess.Move.from_uci("f6f7"): 1.0}, 0.9)], 1, 3)[
        0
    ]
    assert draft.has_second
    Drafter(net, Rules()).second_lines([draft], 3)
    assert draft.nodes[3] is None


def test_every_node_comes_after_the_node_before_it() -> None:
    assert BEFORE == (None, 0, 1, 0, 3)
