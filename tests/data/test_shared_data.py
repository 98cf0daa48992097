"""Real games, puzzles and labels, where they are at hand: the folder DIFFUSEARCH_DATA, or ../shared/data."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import chess
import chess.pgn
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data import pgn
from diffusearch.data.check import check
from diffusearch.data.filters import HeaderFilter
from diffusearch.data.labelled import SCORED, read_labelled, scored_moves
from diffusearch.data.records import Line, replay
from diffusearch.data.scores import action_wins
from diffusearch.data.shards import SCHEMA
from diffusearch.data.source_games import entries
from diffusearch.data.streams import open_text
from diffusearch.tokens import moves

DATA = Path(os.environ.get("DIFFUSEARCH_DATA", Path(__file__).parents[3] / "shared" / "data"))
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA}; set DIFFUSEARCH_DATA"),
]
POOLS = ("lichess-human", "online-titled", "club-otb", "masters", "engine")


@pytest.mark.parametrize("pool", POOLS)
def test_readers_agree_on_real_games(pool: str) -> None:
    """A taste; benchmarks/pgn_agreement.py compares all of them."""
    path = str(DATA / "games" / f"{pool}.pgn.zst")
    with open_text(path) as ours, open_text(path) as theirs:
        for raw in islice(pgn.split(ours), 60):
            game = chess.pgn.read_game(theirs)
            assert game is not None
            assert raw.headers().items() <= dict(game.headers).items()
            assert list(pgn.main_line(raw).moves) == list(game.mainline_moves())


def test_puzzles_are_read() -> None:
    path = str(DATA / "puzzles" / "puzzles-test-10k.csv.zst")
    for entry in islice(entries(path, False), 200):
        game = entry.read(HeaderFilter())
        assert len(game.plies) * 2 == len(game.moves)


def test_other_labels_are_read_as_a_set() -> None:
    for row in islice(read_labelled(DATA / "labels" / "actions-test.parquet"), 300):
        board = chess.Board(row["fen"])
        for move in row["line"].split():
            board.push(board.parse_uci(move))
        assert row["ended"] == (board.outcome() is not None)
        assert (row["cp"] is None) != (row["mate"] is None)


def test_soft_labels_are_a_source_of_records(tmp_path: Path) -> None:
    """Five moves and their scores from one search, as another program wrote them."""
    rows = list(islice(read_labelled(DATA / "labels" / "soft.parquet"), 300))
    path = tmp_path / "soft.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    assert list(check(path, lambda _: None)) == []
    assert scored_moves(path) == 6
    lines = [Line(row["fen"], row["line"].split(), scored=action_wins(row["actions"], SCORED)) for row in rows]
    arrays = replay(lines, 4, scored=6)
    assert (arrays["scored_moves"][:, 0] == arrays["moves"][:, 0]).all()
    listed = arrays["scored_moves"] != moves.NONE
    assert listed.sum() == sum(len(row["actions"].split()) for row in rows)
    assert ((arrays["scored_wins"] >= 0) & (arrays["scored_wins"] <= 1)).all()
