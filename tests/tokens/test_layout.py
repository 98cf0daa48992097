"""Layouts of all eight paradigms: what is given, what is predicted, on which places, and ended games."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest

from diffusearch.data.records import Line, replay
from diffusearch.errors import UserError
from diffusearch.tokens import moves
from diffusearch.tokens.batch import tokenise
from diffusearch.tokens.layout import PARADIGMS, Layout, layout

ALL = list(itertools.product(PARADIGMS, ("paper", "compact"), (1, 2, 4, 8), (1, 2, 4)))


def each(test):
    return pytest.mark.parametrize(("paradigm", "encoding", "patch", "horizon"), ALL)(test)


@each
def test_groups_cover_exactly_the_predicted_variables(paradigm: str, encoding: str, patch: int, horizon: int) -> None:
    shape = layout(paradigm, horizon, encoding, patch)
    covered = np.concatenate([group.variables for group in shape.groups])
    assert sorted(covered) == list(range(shape.given_variables, shape.variables))
    for group in shape.groups:
        assert {shape.types[v] for v in group.variables} == {group.type}
        assert set(shape.sizes[group.variables]) == {group.size}
        assert np.array_equal(group.places, shape.place_of[group.variables])
        assert np.array_equal(group.plies, shape.plies[group.variables])
        outputs = set(zip(group.places.tolist(), group.patch.tolist(), strict=True))
        assert len(outputs) == len(group.variables)  # no two variables share an output
        assert group.patch.max() < shape.per_place(group.type)
    by_place = [v for place in range(shape.places) for g in shape.groups_at(place) for v in g.variables]
    assert sorted(by_place) == sorted(covered)


@each
def test_a_shorter_horizon_is_a_prefix(paradigm: str, encoding: str, patch: int, horizon: int) -> None:
    long, short = layout(paradigm, horizon, encoding, patch), layout(paradigm, 1, encoding, patch)
    assert long.truncated(1) is short
    assert long.segments[: len(short.segments)] == short.segments
    assert long.types[: short.variables] == short.types
    assert np.array_equal(long.sizes[: short.variables], short.sizes)
    assert np.array_equal(long.place_of[: short.variables], short.place_of)
    assert (long.given_variables, long.given_places) == (short.given_variables, short.given_places)


@each
def test_places_are_whole_and_in_order(paradigm: str, encoding: str, patch: int, horizon: int) -> None:
    shape = layout(paradigm, horizon, encoding, patch)
    assert sorted(set(shape.place_of.tolist())) == list(range(shape.places))
    assert shape.place_of[: shape.given_variables].max() == shape.given_places - 1
    assert shape.place_of[shape.given_variables :].min() == shape.given_places
    counts = np.bincount(shape.place_of[:64])
    assert set(counts.tolist()) == {patch}
    assert sorted(shape.square_order.tolist()) == list(range(64))


WORDS = {
    "s-a": "s0 a0",
    "s-v": "s0 v0",
    "sa-v": "s0 a0 v0",
    "s-aa": "s0 a0 a1 a2",
    "s-asa": "s0 a0 s1 a1 s2 a2",
    "s-ass": "s0 a0 s1 s2",
    "s-avav": "s0 a0 v0 a1 v1 a2 v2",
    "s-avsav": "s0 a0 v0 s1 a1 v1 s2 a2 v2",
}


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_the_table_of_segments(paradigm: str) -> None:
    shape = layout(paradigm, 3)
    assert " ".join(f"{s.kind}{s.ply}" for s in shape.segments) == WORDS[paradigm]
    given = [f"{s.kind}{s.ply}" for s in shape.segments if s.given]
    assert given == (["s0", "a0"] if paradigm == "sa-v" else ["s0"])


def test_place_counts() -> None:
    assert layout("s-asa", 4, "paper", 1).places == 4 * 77 + 4 == 312
    assert layout("s-asa", 4, "compact", 4).places == 4 * 17 + 4 == 72  # 2x2 squares a place: under 80
    assert layout("s-asa", 4, "paper", 4).places == 72
    assert layout("s-asa", 4, "compact", 8).places == 40
    assert layout("s-a", 1, "compact", 8).places == 10


def test_patches_are_neighbours() -> None:
    shape = layout("s-a", 1, "compact", 4)
    first = [chess.square_name(square) for square in range(64) if shape.place_of[square] == 0]
    assert first == ["a1", "b1", "a2", "b2"]
    rank = layout("s-a", 1, "paper", 8)
    slots = [slot for slot in range(64) if rank.place_of[slot] == 0]
    assert {int(rank.encoding.squares[slot]) for slot in slots} == set(range(8))


def test_vocabularies_by_type() -> None:
    paper = {group.type: group.size for group in layout("s-avsav", 2, "paper").groups}
    assert paper == {
        "action": 1969, "value": 128, "square": 13, "side": 2, "castling": 5, "file": 9, "rank": 3, "digit": 11,
    }  # fmt: skip
    compact = {group.type: group.size for group in layout("s-avsav", 2, "compact").groups}
    assert compact == {
        "action": 1969, "value": 128, "square": 13, "castling": 16, "en passant": 9, "side": 2, "clock": 256,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(("s-x", 4), "s-x"), (("s-a", 4, "morse"), "morse"), (("s-a", 4, "paper", 3), "3"), (("s-a", 0), "0")],
)
def test_unknown_layouts_are_refused(arguments: tuple[object, ...], word: str) -> None:
    with pytest.raises(UserError, match=word):
        Layout(*arguments)  # type: ignore[arg-type]


MATE = Line("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ["f3f7"], [127, 0])
SHORT = Line(chess.STARTING_FEN, ["e2e4", "e7e5"], [66])


@pytest.mark.parametrize("encoding", ["paper", "compact"])
def test_ended_games_repeat_the_final_state_and_say_none(encoding: str) -> None:
    shape = layout("s-avsav", 4, encoding, 1)
    batch = tokenise(replay([MATE], 4), shape)
    width = len(shape.encoding.slots)
    finals = []
    for ply in range(1, 4):
        state, action = shape.segment("s", ply), shape.segment("a", ply)
        assert state is not None
        assert action is not None
        assert bool(batch.known[0, state.start : state.start + width].all())
        assert bool(batch.known[0, action.start])  # trained like any other token
        assert int(batch.tokens[0, action.start]) == moves.NONE
        finals.append(batch.tokens[0, state.start : state.start + width].tolist())
    assert finals[0] == finals[1] == finals[2]
    board = shape.encoding.decode(np.array(finals[0]), chess.WHITE, 4)
    assert board.is_checkmate()
    values = [bool(batch.known[0, s.start]) for s in shape.segments if s.kind == "v"]
    assert values == [True, True, False, False]


@pytest.mark.parametrize("encoding", ["paper", "compact"])
def test_unknown_futures_have_no_loss(encoding: str) -> None:
    """A line that merely stops: its last state is known, nothing after it."""
    shape = layout("s-asa", 4, encoding, 1)
    batch = tokenise(replay([SHORT], 4), shape)
    told = [bool(batch.known[0, segment.start]) for segment in shape.segments]
    assert told == [True, True, True, True, True, False, False, False]  # s0 a0 s1 a1 s2 | a2 s3 a3
