"""The principal line: read off the fan as far as it reaches, imagined behind it, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import chess
import numpy as np
import numpy.typing as npt
import pytest
import torch
from diffusearch.agents.fan import State
from diffusearch.agents.foresight import Foresight
from diffusearch.agents.principal import expected
from diffusearch.diffusion.imagination import Imagination, Ply
from diffusearch.diffusion.roots import Allowed
from diffusearch.diffusion.unfolding import Imagined, Unfolded

from diffusearch.diffusion.decoding import Decoding

LIKELIHOOD = -0.25  # of each state
MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"


class Even:
    """Takes all moves for equally likely and all positions for even; imagines by the rules, but for blind spots."""

    foresees, horizon = True, 4

    def __init__(self, blind: Sequence[str] = ()) -> None:
        self.blind = blind
        self.asked: list[tuple[list[str], int, Allowed | None, int | None]] = []  # positions, steps, moves, horizon

    def unfold(self, boards: Sequence[chess.Board], count: int, legal: Allowed | None = None) -> list[Unfolded]:
        out = []
        for board in boards:
            own = list(board.legal_moves)
            states = {move: self._behind(board, move) for move in own[:count]}
            out.append(Unfolded(dict.fromkeys(own, 1 / len(own)), 0.4, states, 0.9, True))
        return out

    def _behind(self, board: chess.Board, move: chess.Move) -> Imagined:
        after = board.copy(stack=False)
        after.push(move)
        if move.uci() in self.blind:
            return Imagined(None, "White has no king", "K" * 64, LIKELIHOOD)
        return Imagined(after, log_probability=LIKELIHOOD)

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float64]:
        return np.full(len(boards), 0.4)

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        self.asked.append(([board.fen() for board in boards], decoding.steps, legal, horizon))
        first = ["a2a3" if legal is None else legal[row][0].uci() for row in range(len(boards))]
        return [
            Imagination(board.fen(), uci, {}, (Ply(uci, True, None, None, False),), (), -2.0, 0.5, steps=1)
            for board, uci in zip(boards, first, strict=True)
        ]


def seen(net: Even, board: chess.Board, fan: tuple[int, ...], **decoding: float) -> Imagination:
    (found,) = Foresight(net, fan).imagine([board], Decoding(order="turns", **decoding))  # type: ignore[arg-type]
    assert found.line[0].move == found.move
    return found


def test_the_line_of_a_whole_fan_costs_nothing() -> None:
    net, board = Even(), chess.Board()
    found = seen(net, board, (2, 2, 2, 1))
    assert net.asked == []
    assert (found.steps, found.nodes) == (9, 1 + 2 * (2 + 4 + 8 + 8))
    assert (found.root, found.legal_mass, found.raw_legal) == (board.fen(), 0.9, True)
    likelihood = 0.0
    for place, ply in enumerate(found.line):
        likelihood -= math.log(board.legal_moves.count())
        assert ply.move
        board.push_uci(ply.move)
        assert (ply.legal, ply.value, ply.problem, ply.wrong) == (True, 0.4, None, ())
        squares = "".join(str(board.piece_at(square ^ 56) or ".") for square in range(64))
        assert (ply.state, ply.squares, ply.follows) == (
            (board.fen(), squares, True) if place < 3 else (None, None, False)
        )
    assert len(found.line) == 4
    assert found.log_probability == pytest.approx(likelihood + 3 * LIKELIHOOD)  # four moves, and the states between


@pytest.mark.parametrize(("steps", "calls"), [(5, 0), (6, 1), (20, 1)])
def test_behind_a_shorter_fan_the_model_imagines_on(steps: int, calls: int) -> None:
    net = Even()
    found = seen(net, chess.Board(), (2, 2), steps=steps)
    assert len(found.line) == 2 + calls
    assert found.steps == 5 + calls
    assert found.nodes == 1 + 2 * (2 + 4) + calls
    assert net.asked == [([found.line[1].state], steps - 5, None, 2)][:calls]


def test_a_longer_fan_is_cut_and_without_the_line_there_is_one_move() -> None:
    net = Even()
    assert len(seen(net, chess.Board(), (2, 1, 1, 1, 1)).line) == 4
    (short,) = Foresight(net, (2, 1, 1)).imagine([chess.Board()], Decoding(order="turns"), horizon=2)
    assert [ply.state is None for ply in short.line] == [False, True]
    (alone,) = Foresight(net, (2, 1)).imagine([chess.Board()], Decoding(order="turns", line=False))
    assert [ply.state for ply in alone.line] == [None]
    assert net.asked == []


def test_a_line_ends_with_the_game_and_at_a_broken_state() -> None:
    board = chess.Board(MATE)
    mate = seen(Even(), board, (64, 2))
    board.push_uci(mate.move)
    assert board.is_checkmate()
    assert [ply.state for ply in mate.line] == [board.fen()]
    board = chess.Board()
    broken = seen(Even(blind=[move.uci() for move in board.legal_moves]), board, (3, 2))
    (ply,) = broken.line
    assert (ply.state, ply.problem, ply.squares, ply.follows) == (None, "White has no king", "K" * 64, False)
    assert len(ply.wrong) == 63  # one king does stand there


@pytest.mark.parametrize("mirrored", [False, True])
def test_each_player_goes_by_the_score(mirrored: bool) -> None:
    board = chess.Board().mirror() if mirrored else chess.Board()
    moves = list(board.legal_moves)[:3]
    shares = dict(zip(moves, (0.5, 0.3, 0.2), strict=True))
    for mover, sign in ((board.turn, 1), (not board.turn, -1)):
        state = State(board, mover, seen=Unfolded(shares, 0.5, {}))
        state.futures = {
            move: State(board, mover, sign * odds) for move, odds in zip(moves, (0.0, 0.2, 1.0), strict=True)
        }
        assert [expected(state, trust) for trust in (0.0, 0.5, 1.0)] == [moves[0], moves[0], moves[2]]


def test_the_film_shows_moves_and_states_in_turn() -> None:
    found = seen(Even(), chess.Board(), (2, 1, 1, 1), film=True)
    masked = "?" * 64
    moves, states = [ply.move for ply in found.line], [ply.squares for ply in found.line[:3]]
    assert [frame.step for frame in found.film] == list(range(8))
    for step, frame in enumerate(found.film):
        known = (step + 1) // 2, step // 2
        assert frame.moves == (*moves[: known[0]], *(None,) * (4 - known[0]))
        assert frame.squares == (*states[: known[1]], *(masked,) * (3 - known[1]))


@pytest.mark.parametrize("steps", [3, 4])
def test_a_move_that_was_drawn_and_not_followed_is_imagined_from_the_root(steps: int) -> None:
    net, board, chance = Even(), chess.Board(), torch.Generator().manual_seed(0)
    chooser, decoding = Foresight(net, (2,)), Decoding(order="turns", temperature=100.0, steps=steps)
    found = chooser.imagine([board] * 6, decoding, chance)
    drawn = [one.move for one in found if one.move not in [move.uci() for move in list(board.legal_moves)[:2]]]
    assert len(drawn) >= 3
    own = [[chess.Move.from_uci(uci)] for uci in drawn]
    assert ([board.fen()] * len(drawn), 1, own, 4) in net.asked or steps == 3
    assert bool(net.asked) == (steps == 4)
    assert all(one.line[0].move == one.move for one in found)
    assert all(one.steps == steps for one in found)
