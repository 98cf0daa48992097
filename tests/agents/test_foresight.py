"""Foresight: the first move is chosen by what comes of it, not by its share alone."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import chess
import numpy as np
import pytest
import torch

from diffusearch.agents.build import agent
from diffusearch.agents.foresight import Foresight
from diffusearch.agents.imagining import Allowed, ImaginingAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Imagination, Ply
from diffusearch.errors import UserError
from diffusearch.search.handmade import MaterialValue
from diffusearch.weights import packaged

# White's queen can take a pawn that is guarded: dear at a glance, lost two plies on.
TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"


class Greedy:
    """Likes captures at a glance; imagines the best capture as the reply; values states by material."""

    horizon, knows_values = 4, True

    def __init__(self, *, blind: bool = False) -> None:
        self.blind, self.asked = blind, 0

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        out = []
        for board in boards:
            raw = {move: 10.0 if board.is_capture(move) else 1.0 for move in board.legal_moves}
            out.append({move: share / sum(raw.values()) for move, share in raw.items()})
        return out

    def values(self, boards: Sequence[chess.Board]) -> np.ndarray:
        self.asked += len(boards)
        return np.asarray(MaterialValue().values(boards))

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        assert legal is not None
        return [self._one(board, own[0], decoding) for board, own in zip(boards, legal, strict=True)]

    def _one(self, board: chess.Board, move: chess.Move, decoding: Decoding) -> Imagination:
        dream, plies = board.copy(stack=False), []
        for _ in range(2):
            dream.push(move)
            plies.append(Ply(move.uci(), True, None if self.blind else dream.fen(), None, True))
            if not any(dream.legal_moves):
                break
            move = max(dream.legal_moves, key=dream.is_capture)
        return Imagination(board.fen(), plies[0].move or "", {}, tuple(plies), value=0.5, steps=decoding.steps)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_poisoned_pawn_is_left_alone_when_its_future_is_looked_at(mirrored: bool) -> None:
    board = chess.Board(TRAP).mirror() if mirrored else chess.Board(TRAP)
    glance, seen = (Foresight(Greedy(), 64, trust).imagine([board], Decoding(steps=7))[0] for trust in (0.0, 2.0))
    assert board.is_capture(chess.Move.from_uci(glance.move))
    assert not board.is_capture(chess.Move.from_uci(seen.move))
    assert max(seen.probabilities, key=lambda uci: seen.probabilities[uci]) == seen.move
    assert sum(seen.probabilities.values()) == pytest.approx(1.0)
    assert seen.steps == 7 + 7


def test_a_mate_is_known_by_the_rules() -> None:
    board = chess.Board(MATE)
    net = Greedy()
    for position in (board, board.mirror()):
        (seen,) = Foresight(net, 64, 5.0).imagine([position], Decoding())
        position.push_uci(seen.move)
        assert position.is_checkmate()


def test_without_a_valid_state_the_shares_decide() -> None:
    board, net = chess.Board(TRAP), Greedy(blind=True)
    (seen,) = Foresight(net, 8, 5.0).imagine([board], Decoding())
    assert board.is_capture(chess.Move.from_uci(seen.move))
    assert net.asked == 0


def test_only_the_likeliest_moves_are_looked_at_and_a_batch_is_as_one_by_one() -> None:
    boards = [chess.Board(TRAP), chess.Board(), chess.Board(TRAP).mirror()]
    net = Greedy()
    together = Foresight(net, 3, 2.0).imagine(boards, Decoding())
    assert net.asked == 9
    assert together == [Foresight(net, 3, 2.0).imagine([board], Decoding())[0] for board in boards]
    moves = [[chess.Move.from_uci("h2h3")], [chess.Move.from_uci("a2a3")], [chess.Move.from_uci("h7h6")]]
    narrowed = Foresight(net, 3, 2.0).imagine(boards, Decoding(), legal=moves)
    assert [seen.move for seen in narrowed] == ["h2h3", "a2a3", "h7h6"]


def test_the_agents_text_and_what_the_model_must_know() -> None:
    made = agent(f"diffusearch:{packaged('diffusearch')}?candidates=4&trust=1.5")
    assert isinstance(made, ImaginingAgent)
    assert isinstance(made.net, Foresight)
    assert (made.net.candidates, made.net.trust) == (4, 1.5)
    decision = made.play(chess.Board(TRAP))
    assert decision.move in chess.Board(TRAP).legal_moves
    for lacking in (SimpleNamespace(horizon=4, knows_values=False), SimpleNamespace(horizon=2, knows_values=True)):
        with pytest.raises(UserError, match="candidates"):
            Foresight(lacking, 4)  # type: ignore[arg-type]
