"""Held-out positions: records that have one as root or in the future, in either frame, are left out."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.data.held_out import HeldOut, boards_in, row_keys
from diffusearch.data.records import Line, Records, write_records
from diffusearch.errors import UserError
from diffusearch.tokens.states import board_row
from diffusearch.training.recipe import recipe_from_dict
from diffusearch.training.sources import open_sources

LABELLED = Path(__file__).parents[1] / "fixtures" / "labelled"
ENDGAME = "8/5k2/8/2p5/8/3K4/4P3/8 w - - 0 50"


def after(fen: str, *line: str) -> chess.Board:
    board = chess.Board(fen)
    for move in line:
        board.push_uci(move)
    return board


def records(folder: Path, *lines: Line, horizon: int = 3) -> Records:
    write_records(lines, folder, horizon)
    return Records(folder)


def roots(some: Records) -> set[bytes]:
    return {row.tobytes() for row in some.take(np.arange(len(some)))["states"][:, 0]}


@pytest.mark.parametrize(
    "held",
    [
        after(chess.STARTING_FEN),  # the root
        after(chess.STARTING_FEN, "e2e4"),  # the opponent's turn in the future
        after(chess.STARTING_FEN, "e2e4", "c7c5"),  # the last state
        after(chess.STARTING_FEN, "e2e4").mirror(),  # with colours exchanged
        chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 7 9"),  # other clocks, a vain en passant
    ],
)
def test_a_record_that_meets_a_position_is_left_out(tmp_path: Path, held: chess.Board) -> None:
    lines = [Line(chess.STARTING_FEN, ["e2e4", "c7c5", "g1f3"]), Line(ENDGAME, ["e2e4"])]
    spared = HeldOut([held]).spared_by(records(tmp_path / "records", *lines))
    assert roots(spared) == {board_row(chess.Board(ENDGAME), chess.WHITE).tobytes()}


def test_what_comes_after_the_horizon_or_with_other_rights_is_kept(tmp_path: Path) -> None:
    lines = [Line(chess.STARTING_FEN, ["e2e4", "c7c5", "g1f3"])]
    far = after(chess.STARTING_FEN, "e2e4", "c7c5", "g1f3")
    bare = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1")
    whole = records(tmp_path / "records", *lines)
    assert len(HeldOut([far, bare]).spared_by(whole)) == len(HeldOut([]).spared_by(whole)) == len(whole) == 1


def test_mirrored_positions_only_where_nobody_may_castle(tmp_path: Path) -> None:
    mirrored = chess.Board(ENDGAME).transform(chess.flip_horizontal)
    castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    whole = records(tmp_path / "records", Line(ENDGAME, ["e2e4"]), Line(castling, ["a1a8"]))
    assert mirrored.fen() != ENDGAME
    held = HeldOut([mirrored, chess.Board(castling).transform(chess.flip_horizontal)])
    assert roots(held.spared_by(whole)) == {board_row(chess.Board(castling), chess.WHITE).tobytes()}


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60))
def test_keys_tell_positions_apart(choices: list[int]) -> None:
    """Along any game two positions have one key exactly if they are one position, clocks aside."""
    board, rows = chess.Board(), []
    for choice in choices:
        rows.append(board_row(board, chess.WHITE))
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(legal[choice % len(legal)])
    keys = row_keys(np.stack(rows))
    assert len(set(keys.tolist())) == len({row[:-1].tobytes() for row in rows})


def test_positions_of_every_kind_of_file(tmp_path: Path) -> None:
    puzzles = tmp_path / "puzzles.csv"
    puzzles.write_text(f"PuzzleId,FEN,Moves,Rating\n1,{chess.STARTING_FEN},f2f3 e7e5 g2g4 d8h4,900\n")
    games = tmp_path / "games.pgn"
    games.write_text("1. e4 e5 2. Nf3 *\n")
    fens = {path: [board.fen() for board in boards_in(str(path))] for path in (puzzles, games, LABELLED)}
    solver = [after(chess.STARTING_FEN, *line.split()).fen() for line in ("f2f3", "f2f3 e7e5 g2g4")]
    assert fens[puzzles] == solver
    assert fens[games] == [after(chess.STARTING_FEN, *line.split()).fen() for line in ("", "e2e4", "e2e4 e7e5")]
    assert len(fens[LABELLED]) > 100


def test_a_recipe_names_what_is_held_out(tmp_path: Path) -> None:
    lines = [Line(chess.STARTING_FEN, ["e2e4", "c7c5", "g1f3"]), Line(ENDGAME, ["e2e4"])]
    write_records(lines, tmp_path / "records", 1)
    (tmp_path / "test.pgn").write_text("1. d4 d5 *\n")
    data = {"sources": [{"path": str(tmp_path / "records")}], "held_out": [str(tmp_path / "test.pgn")]}
    said: list[str] = []
    (spared,), _ = open_sources(
        recipe_from_dict({"model": {"paradigm": "s-a", "horizon": 1}, "data": data}), said.append
    )
    assert len(spared) == 1
    assert "1 of 2 records meet held-out positions" in said[-1]


@pytest.mark.parametrize(
    ("name", "text"),
    [("nowhere.parquet", None), ("nowhere.pgn", None), ("bad.pgn", "1. e5 *\n"), ("empty.pgn", "")],
)
def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=name):
        list(boards_in(str(tmp_path / name)))
