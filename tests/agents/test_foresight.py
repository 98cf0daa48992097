"""Foresight: the first move is chosen by what comes of it, not by its share alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import chess
import pytest
import torch

from diffusearch.agents.build import agent
from diffusearch.agents.foresight import Foresight, draw, outcome
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.values import DOUBT
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Imagination, Ply
from diffusearch.diffusion.roots import Allowed
from diffusearch.errors import UserError
from diffusearch.search.handmade import MaterialValue
from diffusearch.weights import packaged

# White's queen can take a pawn that is guarded: dear at a glance, lost two plies on.
TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


class Greedy:
    """Likes captures at a glance; imagines the first capture as the reply; values states by material."""

    imagines_states = knows_values = True

    def __init__(self, *, blind: bool = False) -> None:
        self.blind, self.asked = blind, 0

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        out = []
        for board in boards:
            raw = {move: 10.0 if board.is_capture(move) else 1.0 for move in board.legal_moves}
            out.append({move: share / sum(raw.values()) for move, share in raw.items()})
        return out

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        if legal is None:
            legal = [[max(board.legal_moves, key=board.is_capture)] for board in boards]
        if decoding.order == "turns" and decoding.line:
            self.asked += len(boards)
        return [self._one(board, own[0], decoding, horizon or 4) for board, own in zip(boards, legal, strict=True)]

    def _one(self, board: chess.Board, move: chess.Move, decoding: Decoding, horizon: int) -> Imagination:
        dream, plies = board.copy(stack=False), []
        for number in range(horizon):
            (value,) = MaterialValue().values([dream])
            dream.push(move)
            state = None if self.blind or number == horizon - 1 else dream.fen()
            plies.append(Ply(move.uci(), True, state, None, True, value=float(value)))
            if self.blind or not any(dream.legal_moves):
                break
            move = max(dream.legal_moves, key=dream.is_capture)
        return Imagination(board.fen(), plies[0].move or "", {}, tuple(plies), steps=decoding.steps)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_poisoned_pawn_is_left_alone_when_its_future_is_looked_at(mirrored: bool) -> None:
    board = chess.Board(TRAP).mirror() if mirrored else chess.Board(TRAP)
    glance, seen = (Foresight(Greedy(), 64, trust).imagine([board], Decoding(steps=13))[0] for trust in (0.0, 2.0))
    assert board.is_capture(chess.Move.from_uci(glance.move))
    assert not board.is_capture(chess.Move.from_uci(seen.move))
    assert max(seen.probabilities, key=lambda uci: seen.probabilities[uci]) == seen.move
    assert sum(seen.probabilities.values()) == pytest.approx(1.0)
    assert seen.steps == 13  # none is lost: 6 for the choice, 7 for the line


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


@pytest.mark.parametrize(("steps", "asked"), [(1, 0), (6, 0), (7, 64)])
def test_too_few_steps_leave_no_time_to_look_ahead(steps: int, asked: int) -> None:
    board, net = chess.Board(TRAP), Greedy()
    (seen,) = Foresight(net, 64, 2.0).imagine([board], Decoding(steps=steps))
    assert net.asked == min(asked, board.legal_moves.count())
    assert board.is_capture(chess.Move.from_uci(seen.move)) == (asked == 0)


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_outcome_is_the_movers(mirrored: bool) -> None:
    def future(fen: str, *plies: Ply) -> tuple[chess.Board, Imagination]:
        board = chess.Board(fen).mirror() if mirrored else chess.Board(fen)
        turned = [chess.Move(m.from_square ^ 56, m.to_square ^ 56) if mirrored else m for m in map(move_of, plies)]
        line = tuple(
            replace(ply, move=move.uci(), state=_mirrored(ply.state, mirrored))
            for ply, move in zip(plies, turned, strict=True)
        )
        return board, Imagination(board.fen(), turned[0].uci(), {}, line)

    def move_of(ply: Ply) -> chess.Move:
        return chess.Move.from_uci(ply.move or "")

    quiet = Ply("d2d3", True, None, None, True, value=0.7)
    reply = Ply("g8h8", True, None, None, True, value=0.2)
    assert outcome(*future(TRAP, quiet)) == pytest.approx(logit(0.7))
    assert outcome(*future(TRAP, quiet, reply)) == pytest.approx(logit(0.8))  # the opponent likes it with 0.2
    assert outcome(*future(TRAP, quiet, reply, quiet)) == pytest.approx((logit(0.8) + logit(0.7)) / 2)
    unvalued = replace(quiet, value=None)
    assert outcome(*future(TRAP, unvalued, replace(reply, value=None))) == 0.0
    mated = "6k1/5ppp/8/8/8/8/5PPP/3r2K1 w - - 0 1"  # an imagined reply that mates the mover
    assert outcome(*future(TRAP, quiet, replace(reply, state=mated))) == pytest.approx(logit(DOUBT))
    stale = "7k/8/6K1/5Q2/8/8/8/8 b - - 0 1"
    assert outcome(*future(TRAP, quiet, replace(reply, state=stale.replace("5Q2", "8").replace("6K1", "5KQ1")))) == 0.0
    assert outcome(*future(MATE, replace(quiet, move="d1d8"))) == pytest.approx(
        logit(1 - DOUBT)
    )  # by the rules, whatever it thinks


def _mirrored(fen: str | None, mirrored: bool) -> str | None:
    return chess.Board(fen).mirror().fen() if fen is not None and mirrored else fen


def test_temperature_draws_from_the_new_shares() -> None:
    board, chance = chess.Board(TRAP), torch.Generator().manual_seed(1)
    look = Foresight(Greedy(), 64, 2.0)
    drawn = {look.imagine([board], Decoding(temperature=5.0), chance)[0].move for _ in range(20)}
    assert len(drawn) > 5
    shares = {chess.Move.from_uci("a2a3"): 0.9, chess.Move.from_uci("b2b3"): 0.1}
    lots = [draw(shares, 1.0, chance) for _ in range(400)]
    assert 320 <= lots.count(chess.Move.from_uci("a2a3")) <= 390


def test_only_the_likeliest_moves_are_looked_at_and_a_batch_is_as_one_by_one() -> None:
    boards = [chess.Board(TRAP), chess.Board(), chess.Board(TRAP).mirror()]
    net = Greedy()
    together = Foresight(net, 3, 2.0).imagine(boards, Decoding())
    assert net.asked == 9  # three futures each
    assert together == [Foresight(net, 3, 2.0).imagine([board], Decoding())[0] for board in boards]
    moves = [[chess.Move.from_uci("h2h3")], [chess.Move.from_uci("a2a3")], [chess.Move.from_uci("h7h6")]]
    narrowed = Foresight(net, 3, 2.0).imagine(boards, Decoding(), legal=moves)
    assert [seen.move for seen in narrowed] == ["h2h3", "a2a3", "h7h6"]


def test_the_agents_text_and_what_the_model_must_know() -> None:
    made = agent(f"diffusearch:{packaged('diffusearch')}?candidates=4&trust=1.5")
    assert isinstance(made, ImaginingAgent)
    assert isinstance(made.imaginer, Foresight)
    assert (made.imaginer.candidates, made.imaginer.trust, made.imaginer.look) == (4, 1.5, 2)
    assert isinstance(agent("diffusearch").imaginer, Foresight)  # type: ignore[attr-defined]
    for plain in ("diffusearch?candidates=1", "diffusearch?order=confidence", "diffusearch?k=4"):
        assert not isinstance(agent(plain).imaginer, Foresight)  # type: ignore[attr-defined]
    decision = made.play(chess.Board(TRAP))
    assert decision.move in chess.Board(TRAP).legal_moves
    for values, imagines in ((True, False), (False, True)):
        lacking = SimpleNamespace(knows_values=values, imagines_states=imagines)
        with pytest.raises(UserError, match="candidates"):
            Foresight(lacking, 4)  # type: ignore[arg-type]
