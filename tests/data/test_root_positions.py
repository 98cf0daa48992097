from __future__ import annotations

from collections import Counter

import chess
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.data.root_positions import PositionSet, choose, position_key, split_of
from diffusearch.data.source_games import SourceGame


def game(moves: str, **more: object) -> SourceGame:
    board = chess.Board()
    line = tuple(board.push_san(san) for san in moves.split())
    fields: dict[str, object] = {"pool": "p", "index": 7, "key": moves, "plies": range(len(line)), **more}
    return SourceGame(start=chess.Board(), moves=line, **fields)  # type: ignore[arg-type]


MATE = game("f3 e5 g4 Qh4#", rating=1400)
LONG = game("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6")


def test_all_plies_of_a_game_with_their_own_continuation() -> None:
    chosen = choose(MATE, None, 0, 4, 0)
    assert [p.ply for p in chosen] == [0, 1, 2, 3]
    assert [p.played for p in chosen] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert chosen[0].continuation == ("f2f3", "e7e5", "g2g4", "d8h4")
    assert chosen[3].continuation == ("d8h4",)
    assert all(p.ended for p in chosen)
    assert all((p.pool, p.game, p.rating) == ("p", 7, 1400) for p in chosen)


def test_a_game_that_just_stops_has_not_ended() -> None:
    assert not any(p.ended for p in choose(LONG, None, 0, 4, 0))


def test_only_lines_that_reach_the_end_have_ended() -> None:
    assert [p.ended for p in choose(MATE, None, 0, 2, 0)] == [False, False, True, True]


def test_drawn_plies_depend_on_the_game_and_the_seed_only() -> None:
    drawn = [p.ply for p in choose(LONG, 5, 0, 4, 0)]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 5
    moved = game("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6", index=99)
    assert [p.ply for p in choose(moved, 5, 0, 4, 0)] == drawn
    assert len({tuple(p.ply for p in choose(LONG, 5, 0, 4, seed)) for seed in range(10)}) > 3


def test_skipped_plies_are_never_chosen() -> None:
    assert {p.ply for p in choose(LONG, None, 10, 4, 0)} == {10, 11, 12, 13}
    assert {p.ply for p in choose(LONG, 99, 10, 4, 0)} == {10, 11, 12, 13}


def test_nothing_is_decided_in_a_dead_position() -> None:
    start = chess.Board("8/8/8/4k3/8/8/4K1p1/8 w - - 0 1")
    moves = tuple(map(chess.Move.from_uci, ["e2f2", "e5f5", "f2g2", "f5f4", "g2f2"]))
    dead = SourceGame("p", 0, "k", start, moves, range(5))
    assert [p.ply for p in choose(dead, None, 0, 4, 0)] == [0, 1, 2]


def test_the_split_never_moves() -> None:
    """Fixed for ever: data made by an older version must stay on its side."""
    assert [n for n in range(60) if split_of(f"game {n}") != "train"] == [1, 7, 9, 12, 18, 21, 22, 25, 30, 40, 46]
    assert [split_of(f"game {n}") for n in (1, 7)] == ["validation", "test"]
    shares = Counter(split_of(str(n)) for n in range(20_000))
    assert 0.04 < shares["test"] / 20_000 < 0.06
    assert 0.04 < shares["validation"] / 20_000 < 0.06


def test_positions_are_told_apart_without_clocks() -> None:
    a = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert position_key(a) == position_key(a.replace("0 1", "7 9"))
    assert position_key(a) != position_key(a.replace(" b ", " w "))
    assert position_key(a) != position_key(a.replace("KQkq", "KQk"))


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=60), st.integers(0, 9))
def test_the_set_of_positions_is_a_set(keys: list[int], shift: int) -> None:
    ours, theirs = PositionSet(), set[int]()
    for key in [*keys, *keys[shift:]]:
        key = max(key, 1)  # 0 and 1 share a slot by design
        assert ours.add(key) == (key not in theirs)
        theirs.add(key)
    assert len(ours) == len(theirs)


def test_the_set_grows() -> None:
    keys = [position_key(f"{number} w - -") for number in range(20_000)]
    ours = PositionSet()
    assert [ours.add(key) for key in keys] == [True] * 20_000
    assert [ours.add(key) for key in keys] == [False] * 20_000
