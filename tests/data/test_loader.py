"""From records to batches: every record once an epoch, exact shares, exact mirroring, tokens that decode back."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import numpy as np
import pytest

from diffusearch.data.loader import Mixture, mirrored, source_rows
from diffusearch.data.records import Line, Records, replay, write_records
from diffusearch.errors import UserError
from diffusearch.tokens import moves, states
from diffusearch.tokens.batch import tokenise
from diffusearch.tokens.layout import layout


def random_lines(count: int, seed: int, horizon: int = 4) -> list[Line]:
    """Random positions and random lines from them, some long, some short, some that end the game."""
    chance, out = random.Random(seed), []
    while len(out) < count:
        board = chess.Board()
        for _ in range(chance.randrange(120)):
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(chance.choice(legal))
        if not any(board.legal_moves):
            continue
        fen, line = board.fen(), []
        for _ in range(chance.choice([1, horizon, horizon])):
            legal = list(board.legal_moves)
            if not legal:
                break
            line.append(chance.choice(legal).uci())
            board.push_uci(line[-1])
        out.append(Line(fen, line, [chance.randrange(128) for _ in line]))
    return out


@pytest.mark.parametrize("count", [1, 3, 512, 513, 1700])
def test_each_record_comes_once_an_epoch(count: int) -> None:
    stream = np.concatenate([source_rows(count, start, 100, (7, 0)) for start in range(0, 3 * count + 100, 100)])
    epochs = [stream[count * e : count * (e + 1)] for e in range(3)]
    for epoch in epochs:
        assert np.array_equal(np.sort(epoch), np.arange(count))
    if count > 3:
        assert not np.array_equal(epochs[0], epochs[1])  # in a new order each time
        assert not np.array_equal(epochs[0], np.arange(count))


def test_the_stream_is_the_same_however_it_is_cut() -> None:
    whole = source_rows(1300, 0, 4000, (1, 2))
    pieces = [source_rows(1300, start, size, (1, 2)) for start, size in ((0, 1), (1, 1299), (1300, 37), (1337, 2663))]
    assert np.array_equal(whole, np.concatenate(pieces))
    assert not np.array_equal(whole, source_rows(1300, 0, 4000, (2, 2)))


@pytest.fixture
def sources(tmp_path: Path) -> list[Records]:
    for index, (count, horizon) in enumerate(((40, 4), (25, 2), (11, 3))):
        write_records(random_lines(count, index), tmp_path / f"r{index}", horizon)
    return [Records(tmp_path / f"r{index}") for index in range(3)]


def test_shares_of_a_mixture_are_exact(sources: list[Records]) -> None:
    mixture = Mixture(sources, [5.0, 2.0, 1.0], seed=3)
    drawn: list[list[np.ndarray]] = [[], [], []]
    for step in range(100):
        rows = mixture.rows(step, 11)
        assert sum(len(part) for part in rows) == 11
        for source, part in zip(drawn, rows, strict=True):
            source.append(part)
    counts = [sum(map(len, source)) for source in drawn]
    for count, share in zip(counts, (5 / 8, 2 / 8, 1 / 8), strict=True):
        assert abs(count - 1100 * share) <= 1
    for source, records in zip(drawn, sources, strict=True):  # and each source is still read once an epoch
        stream = np.concatenate(source)
        size = len(records)
        assert np.array_equal(np.sort(stream[:size]), np.arange(size))


def test_a_batch_has_the_horizon_that_all_sources_have(sources: list[Records]) -> None:
    arrays = Mixture(sources, [1, 1, 1], 0).take(0, 12)
    assert arrays["states"].shape == (12, 2, 68)
    assert arrays["moves"].shape == (12, 2)


def test_sources_with_fewer_scored_moves_are_filled_up(sources: list[Records], tmp_path: Path) -> None:
    line = Line(chess.STARTING_FEN, ["e2e4", "e7e5"], scored=[("e2e4", 0.5), ("d2d4", 0.25)])
    write_records([line] * 20, tmp_path / "scored", 2, scored=3)
    arrays = Mixture([sources[0], Records(tmp_path / "scored")], [1, 1], 0).take(0, 12)
    assert arrays["scored_moves"].shape == arrays["scored_wins"].shape == (12, 3)
    assert (arrays["scored_moves"][:6] == moves.NONE).all()
    expected = [moves.MOVE_ID["e2e4"], moves.MOVE_ID["d2d4"], moves.NONE]
    assert (arrays["scored_moves"][6:] == expected).all()
    assert (arrays["scored_wins"][6:] == [0.5, 0.25, 0.0]).all()
    assert "scored_moves" not in Mixture(sources, [1, 1, 1], 0).take(0, 12)


def test_scored_moves_are_mirrored_with_the_board() -> None:
    line = Line("8/8/8/8/8/8/7k/K7 w - - 0 1", ["a1b1"], scored=[("a1b1", 0.5), ("a1a2", 0.4)])
    arrays = replay([line], 1, scored=3)
    seen = mirrored(arrays, np.array([True]))
    assert seen["scored_moves"].tolist() == [[moves.MOVE_ID["h1g1"], moves.MOVE_ID["h1h2"], moves.NONE]]
    assert (seen["scored_wins"] == arrays["scored_wins"]).all()


def test_a_source_that_starves_is_refused(sources: list[Records]) -> None:
    with pytest.raises(UserError, match=r"r2.*less than one record"):
        Mixture(sources, [100.0, 100.0, 1.0], 0).rows(0, 64)


def legal_set(packed: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist())


def test_mirroring_is_a_symmetry_of_chess() -> None:
    """The mirrored record is what replaying the mirrored game gives, its legal moves included."""
    lines = [line for line in random_lines(150, 9) if chess.Board(line.fen).castling_rights == 0]
    lines.append(Line("8/8/8/8/3pP3/8/8/k1K5 b - e3 0 50", ["d4e3", "c1d1"]))
    assert len(lines) > 20
    turned = []
    for line in lines:
        board = chess.Board(line.fen).transform(chess.flip_horizontal)
        ids = [int(moves.MIRROR[moves.MOVE_ID[uci]]) for uci in line.moves]
        turned.append(Line(board.fen(), [moves.MOVES[i] for i in ids], line.values))
    arrays, expected = replay(lines, 4), replay(turned, 4)
    seen = mirrored(arrays, np.ones(len(lines), dtype=bool))
    for name in arrays:
        assert np.array_equal(seen[name], expected[name]), name
    for index, line in enumerate(turned):
        board = chess.Board(line.fen)
        own = board if board.turn else board.mirror()
        assert legal_set(seen["legal"][index]) == set(moves.move_ids(own.legal_moves))
    twice = mirrored(seen, np.ones(len(lines), dtype=bool))
    assert all(np.array_equal(twice[name], arrays[name]) for name in arrays)


def test_who_may_castle_is_not_mirrored() -> None:
    lines = [Line(chess.STARTING_FEN, ["e2e4"]), Line("7k/8/8/8/8/8/8/K7 w - - 0 1", ["a1a2"])]
    arrays = replay(lines, 1)
    seen = mirrored(arrays, np.array([True, True]))
    assert np.array_equal(seen["states"][0], arrays["states"][0])
    assert not np.array_equal(seen["states"][1], arrays["states"][1])
    none = mirrored(arrays, np.array([False, False]))
    assert all(np.array_equal(none[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize(("encoding", "patch"), [("paper", 1), ("compact", 4)])
def test_tokens_decode_back_to_the_game(encoding: str, patch: int) -> None:
    shape = layout("s-avsav", 4, encoding, patch)
    lines = random_lines(80, 2)
    batch = tokenise(replay(lines, 4), shape)
    for index, line in enumerate(lines):
        board = chess.Board(line.fen)
        mover, turned = board.turn, shape.encoding.turned and not board.turn
        legal = {int(moves.TURN[token]) if turned else token for token in moves.move_ids(board.legal_moves)}
        assert set(np.flatnonzero(batch.legal[index].numpy()).tolist()) == legal
        assert int(batch.value[index]) == line.values[0]
        for ply in range(4):
            state, action = shape.segment("s", ply), shape.segment("a", ply)
            assert state is not None
            assert action is not None
            if ply > len(line.moves):
                over = not any(board.legal_moves)
                assert bool(batch.known[index, state.start]) == over
                continue
            assert bool(batch.known[index, state.start])
            span = batch.tokens[index, state.start : state.start + len(shape.encoding.slots)].numpy()
            assert shape.encoding.decode(span, mover, board.fullmove_number).fen() == board.fen()
            if ply < len(line.moves):
                token = int(batch.tokens[index, action.start])
                uci = line.moves[ply]
                assert moves.id_uci(int(moves.TURN[token]) if turned else token) == uci
                assert bool(batch.known[index, action.start])
                board.push_uci(uci)


def test_a_shorter_layout_reads_the_beginning() -> None:
    arrays = replay(random_lines(10, 3), 4)
    long, short = layout("s-asa", 4, "compact", 8), layout("s-asa", 2, "compact", 8)
    whole, part = tokenise(arrays, long), tokenise(arrays, short)
    assert np.array_equal(whole.tokens[:, : short.variables], part.tokens)
    assert np.array_equal(whole.known[:, : short.variables], part.known)


def test_the_side_to_move_alternates() -> None:
    arrays = replay([Line(chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"])], 4)
    assert arrays["states"][0, :, states.SIDE].tolist() == [0, 1, 0, 1]
