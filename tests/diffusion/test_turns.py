"""Turn by turn: chained imaginations make one future, seen with mock models and with a small network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess
import pytest
import torch

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Frame, Imagination, Ply
from diffusearch.diffusion.roots import Allowed
from diffusearch.diffusion.sampling import denoise
from diffusearch.diffusion.turns import by_turns
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.run import Run
from diffusearch.training.recipe import Recipe

TURNS = Decoding(order="turns", steps=20)
FOOL = "rnbqkbnr/ppppp2p/5p2/6p1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq g6 0 3"  # Qh5 mates


def squares_of(board: chess.Board) -> str:
    return "".join(str(board.piece_at(square ^ 56) or ".") for square in range(64))


class Dreamer:
    """Plays the last legal move by UCI (or of `plan`) and knows the rules, unless a ply is named as broken."""

    def __init__(self, plan: Sequence[str] = (), broken: int | None = None, over: int | None = None) -> None:
        self.plan, self.broken, self.over = plan, broken, over
        self.asked: list[tuple[int, Decoding, Allowed | None, int]] = []

    def __call__(
        self, boards: Sequence[chess.Board], decoding: Decoding, legal: Allowed | None, horizon: int
    ) -> list[Imagination]:
        turn = len(self.asked)
        self.asked.append((len(boards), decoding, legal, horizon))
        return [self._one(board, turn, horizon) for board in boards]

    def _one(self, board: chess.Board, turn: int, horizon: int) -> Imagination:
        uci = self.plan[turn] if turn < len(self.plan) else max(move.uci() for move in board.legal_moves)
        after = board.copy(stack=False)
        after.push_uci(uci)
        seen = squares_of(after) if horizon > 1 else None
        state = None if horizon == 1 or turn == self.broken else after.fen()
        problem = "White has no king" if turn == self.broken else None
        first = Ply(None if turn == self.over else uci, True, state, problem, state is not None, seen)
        hidden = ("?" * 64,) * (horizon - 1)
        film = (
            Frame(0, (None,) * horizon, hidden),
            Frame(1, (uci, *(None,) * (horizon - 1)), hidden),
            *([Frame(2, (uci, "a1a1"), (seen or "",))] if horizon > 1 else []),
        )
        return Imagination(board.fen(), uci, {uci: 1.0}, (first,), film, -1.0, 0.1 + turn / 10, steps=horizon)


def test_a_future_of_four_plies_is_what_the_rules_give() -> None:
    dreamer, board = Dreamer(), chess.Board()
    (found,) = by_turns(dreamer, [board], replace(TURNS, film=True), None, 4)
    assert [asked[3] for asked in dreamer.asked] == [2, 2, 2, 1]
    assert [asked[1].legal for asked in dreamer.asked] == [True, False, False, False]
    assert all(asked[1].order == "plies" and asked[1].steps == 2 for asked in dreamer.asked)
    for ply in found.line:
        assert ply.move == max(move.uci() for move in board.legal_moves)
        board.push_uci(ply.move)
        assert ply.state in (board.fen(), None)
    assert [ply.value for ply in found.line] == [0.1, 0.2, pytest.approx(0.3), 0.4]
    assert (found.log_probability, found.steps, found.value) == (-4.0, 7, 0.1)


def test_the_film_shows_one_turn_after_another() -> None:
    (found,) = by_turns(Dreamer(), [chess.Board()], replace(TURNS, film=True), None, 3)
    masked = "?" * 64
    moves = [ply.move for ply in found.line]
    first, second = (ply.squares for ply in found.line[:2])
    assert [frame.step for frame in found.film] == list(range(6))
    assert [frame.moves for frame in found.film] == [
        (None, None, None),
        (moves[0], None, None),
        (moves[0], None, None),
        (moves[0], moves[1], None),
        (moves[0], moves[1], None),
        (moves[0], moves[1], moves[2]),
    ]
    assert [frame.squares for frame in found.film] == [
        (masked, masked),
        (masked, masked),
        (first, masked),
        (first, masked),
        (first, second),
        (first, second),
    ]


@pytest.mark.parametrize(("steps", "plies"), [(1, 1), (2, 1), (3, 2), (6, 3), (7, 4), (20, 4)])
def test_steps_are_network_calls_and_buy_plies(steps: int, plies: int) -> None:
    (found,) = by_turns(Dreamer(), [chess.Board()], replace(TURNS, steps=steps), None, 4)
    assert len(found.line) == plies
    assert found.steps <= steps


def test_without_the_line_only_the_first_move_is_asked_for() -> None:
    dreamer = Dreamer()
    by_turns(dreamer, [chess.Board()], replace(TURNS, line=False), None, 4)
    assert [asked[3] for asked in dreamer.asked] == [1]


def test_a_line_ends_at_mate_at_a_broken_state_and_where_the_model_says_so() -> None:
    boards = [chess.Board(FOOL), chess.Board()]
    dreamer = Dreamer(plan=["d1h5"])
    (mate,) = by_turns(dreamer, boards[:1], TURNS, [[chess.Move.from_uci("d1h5")]], 4)
    assert [ply.move for ply in mate.line] == ["d1h5"]
    assert dreamer.asked[0][2] == [[chess.Move.from_uci("d1h5")]]
    (broken,) = by_turns(Dreamer(broken=1), boards[1:], TURNS, None, 4)
    assert [ply.problem for ply in broken.line] == [None, "White has no king"]
    (over,) = by_turns(Dreamer(over=2), boards[1:], TURNS, None, 4)
    assert len(over.line) == 2


def test_a_batch_is_as_one_by_one_though_some_end_early() -> None:
    boards = [chess.Board(FOOL), chess.Board(), chess.Board(FOOL).mirror()]
    moves = [[chess.Move.from_uci(uci)] for uci in ("d1h5", "e2e4", "d8h4")]
    net = small()
    together = net.imagine(boards, TURNS, legal=moves)
    assert together[0].line[0].move == "d1h5"
    for board, own, one in zip(boards, moves, together, strict=True):
        (alone,) = net.imagine([board], TURNS, legal=[own])
        assert [ply.move for ply in alone.line] == [ply.move for ply in one.line]
        assert alone.probabilities == pytest.approx(one.probabilities, abs=1e-5)


def small(paradigm: str = "s-asa", horizon: int = 4) -> Run:
    torch.manual_seed(3)
    trunk = TrunkConfig(layers=1, width=32, heads=2, attention="prefix")
    config = ModelConfig(paradigm, horizon, "compact", 8, "squares", root_value=True, trunk=trunk)
    return Run(Recipe(model=config), Denoiser(config))


def test_each_turn_is_the_models_own_decision_about_that_state() -> None:
    net, board = small(), chess.Board()
    net.net.heads["square"].first.out.weight.data.zero_()  # states are noise: let the copies decide
    (found,) = net.imagine([board], TURNS)
    here = board
    for ply in found.line:
        (alone,) = net.imagine([here], Decoding(order="plies", steps=2, legal=here is board), horizon=2)
        assert ply.move == alone.move
        assert ply.value == pytest.approx(alone.value, abs=1e-6)
        if ply.state is None:
            break
        here = chess.Board(ply.state)


def test_what_cannot_be_imagined_by_turns() -> None:
    for net in (small("s-aa"), small("s-a", 1)):
        assert net.usual_order == "plies"
        with pytest.raises(UserError, match="choose order 'plies'"):
            net.imagine([chess.Board()], TURNS)
    net = small()
    assert net.usual_order == "turns"
    given = net.given([chess.Board()], net.layout)
    with pytest.raises(ValueError, match="turns"):
        denoise(net.net, given, net.layout, TURNS, 20, torch.Generator())
