"""Batches: records in a layout, their shorter horizons, and what is masked."""

from __future__ import annotations

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.records import Line, replay
from diffusearch.tokens import moves, values
from diffusearch.tokens.batch import Batch, masked, tokenise
from diffusearch.tokens.layout import PARADIGMS, layout

GAME = ["e2e4", "e7e5", "g1f3", "b8c6"]
AFTER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"  # after 1.e4
LINES = [Line(chess.STARTING_FEN, GAME, [70, 60, 50, 40]), Line(AFTER, GAME[1:3], [58, 71])]


@pytest.mark.parametrize("encoding", ["paper", "compact"])
@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_a_batch_in_a_shorter_layout_is_the_batch_of_that_layout(paradigm: str, encoding: str) -> None:
    arrays = replay(LINES, 4)
    long, short = layout(paradigm, 4, encoding, 1), layout(paradigm, 2, encoding, 1)
    cut, made = tokenise(arrays, long).truncated(short), tokenise(arrays, short)
    for name in Batch.__dataclass_fields__:
        assert torch.equal(getattr(cut, name), getattr(made, name)), name


@pytest.mark.parametrize("encoding", ["paper", "compact"])
def test_moves_and_legal_moves_are_in_the_layouts_frame(encoding: str) -> None:
    shape = layout("s-aa", 2, encoding, 1)
    batch = tokenise(replay(LINES, 2), shape)
    for row, line in enumerate(LINES):
        board = chess.Board(line.fen)
        turned = encoding == "compact" and not board.turn
        ids = moves.move_ids([chess.Move.from_uci(uci) for uci in line.moves[:2]], turned)
        assert batch.tokens[row, shape.given_variables :].tolist() == ids
        legal = set(moves.move_ids(list(board.legal_moves), turned))
        assert set(batch.legal[row].nonzero()[:, 0].tolist()) == legal


@pytest.mark.parametrize("encoding", ["paper", "compact"])
def test_scored_moves_are_in_the_layouts_frame(encoding: str) -> None:
    lines = [Line(AFTER, ["e7e5"], scored=[("e7e5", 0.5), ("c7c5", 0.25)]), Line(chess.STARTING_FEN, ["e2e4"])]
    batch = tokenise(replay(lines, 1, scored=3), layout("s-a", 1, encoding, 1))
    expected = moves.move_ids([chess.Move.from_uci(uci) for uci in ("e7e5", "c7c5")], encoding == "compact")
    assert batch.scored_moves.tolist() == [[*expected, moves.NONE], [moves.NONE] * 3]
    assert batch.scored_wins.tolist() == [[0.5, 0.25, 0.0], [0.0] * 3]
    plain = tokenise(replay(lines, 1), layout("s-a", 1, encoding, 1))
    assert plain.scored_moves.shape == plain.scored_wins.shape == (2, 0)


def test_unknown_plies_and_values_are_not_known() -> None:
    shape = layout("s-avav", 4, "compact", 1)
    batch = tokenise(replay([LINES[1], Line(AFTER, GAME[1:2])], 4), shape)
    known = batch.known[:, shape.given_variables :].tolist()
    assert known[0] == [True] * 4 + [False] * 4  # two actions with their values
    assert known[1] == [True] + [False] * 7  # one action, no value
    assert batch.value.tolist() == [58, -1]


def test_a_finished_game_stays_where_it_ended() -> None:
    mate = Line("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", ["a1a8"], [127])
    shape = layout("s-asa", 3, "compact", 8)
    batch = tokenise(replay([mate], 3), shape)
    assert bool(batch.known.all())
    first, second = (shape.segment("s", ply) for ply in (1, 2))
    assert first is not None
    assert second is not None
    slots = len(shape.encoding.slots)
    assert torch.equal(
        batch.tokens[:, first.start : first.start + slots], batch.tokens[:, second.start : second.start + slots]
    )
    actions = [shape.segment("a", ply) for ply in (1, 2)]
    assert [int(batch.tokens[0, one.start]) for one in actions if one] == [moves.NONE] * 2


def test_random_moves_are_marked_where_the_arrays_say_so() -> None:
    shape, arrays = layout("s-asa", 2, "compact", 8), replay(LINES, 2)
    assert tokenise(arrays, shape).random_move.tolist() == [False, False]
    assert tokenise(arrays | {"random_move": np.array([False, True])}, shape).random_move.tolist() == [False, True]


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_masks_stand_behind_what_is_given(paradigm: str) -> None:
    shape = layout(paradigm, 3, "compact", 8)
    given = torch.arange(2 * shape.given_variables).view(2, -1)
    x = masked(given, shape)
    assert x.shape == (2, shape.variables)
    assert torch.equal(x[:, : shape.given_variables], given)
    assert bool((x[:, shape.given_variables :] == torch.from_numpy(shape.sizes[shape.given_variables :])).all())
    assert values.UNKNOWN not in range(values.BINS)
