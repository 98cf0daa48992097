"""How puzzles are made: only moves that alone win, and nothing that plays itself."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from importlib.resources import files

import chess
import chess.engine
import pytest

from diffusearch.errors import UserError
from diffusearch.play.make_puzzles import MadePuzzle, PuzzleMaker, make, obvious, rating_of, thinned, written

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"  # Rd8 mates; nothing else wins at once


PACKAGED = files("diffusearch.play").joinpath("puzzles.json").read_text(encoding="utf-8")
MADE_BY = "Stockfish 15.1"  # of the packaged file; other versions play other games


def packaged() -> list[MadePuzzle]:
    return [MadePuzzle(**entry) for entry in json.loads(PACKAGED)["puzzles"]]


@pytest.fixture(scope="module")
def maker() -> Iterator[PuzzleMaker]:
    path = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if path is None:
        pytest.skip("no Stockfish on the PATH")
    with chess.engine.SimpleEngine.popen_uci(path) as engine:
        yield PuzzleMaker(engine, random.Random(1), nodes=5000)


@pytest.mark.engine
def test_the_only_mate_is_a_solution_of_one_move(maker: PuzzleMaker) -> None:
    board = chess.Board("6k1/5ppp/8/8/8/r7/r4PPP/3R2K1 w - - 0 1")  # a rook down but for the mate
    assert [move.uci() for move in maker.solution(board)] == ["d1d8"]


@pytest.mark.engine
def test_no_puzzle_where_two_moves_win(maker: PuzzleMaker) -> None:
    assert maker.solution(chess.Board("6k1/8/8/8/8/8/1QQ3PP/6K1 w - - 0 1")) == []
    assert maker.solution(chess.Board()) == []


@pytest.mark.engine
def test_a_mate_in_one_settles_at_once(maker: PuzzleMaker) -> None:
    board = chess.Board(BACK_RANK)
    mate = chess.Move.from_uci("d1d8")
    assert maker.settled(board, mate) == 1
    assert maker.settled(board, chess.Move.from_uci("g1f1")) == 0


def test_recaptures_and_free_queens_are_obvious() -> None:
    board = chess.Board("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")
    board.push_uci("e4d5")
    assert not obvious(board, chess.Move.from_uci("e8e7"))
    board = chess.Board("4k3/2p5/3p4/4P3/8/8/8/4K3 w - - 0 1")
    board.push_uci("e5d6")
    assert obvious(board, chess.Move.from_uci("c7d6"))
    assert obvious(chess.Board("3qk3/8/8/8/8/8/8/3RK3 w - - 0 1"), chess.Move.from_uci("d1d8"))


def test_ratings_grow_with_depth_and_length() -> None:
    assert rating_of(1, 1) == 600
    assert rating_of(9, 1) > rating_of(3, 1) > rating_of(1, 1)
    assert rating_of(3, 2) > rating_of(3, 1)


def test_a_missing_engine_is_explained() -> None:
    with pytest.raises(UserError, match="--stockfish"):
        make(1, 1, 100, "no-such-engine")


def test_easy_ones_are_thinned() -> None:
    entries = [MadePuzzle(str(number), "", 600) for number in range(5)] + [MadePuzzle("hard", "", 900)]
    assert [entry.fen for entry in thinned(entries, 2)] == ["0", "1", "hard"]


def test_the_packaged_file_is_as_the_documented_command_writes_it() -> None:
    entries = packaged()
    assert written(entries, seed=1, nodes=300_000) == PACKAGED
    assert thinned(entries, 24) == entries == sorted(entries, key=lambda entry: (entry.rating, entry.fen))


@pytest.mark.engine
def test_the_documented_command_finds_the_packaged_puzzles() -> None:
    path = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if path is None:
        pytest.skip("no Stockfish on the PATH")
    with chess.engine.SimpleEngine.popen_uci(path) as engine:
        if engine.id["name"] != MADE_BY:
            pytest.skip(f"the packaged puzzles were made by {MADE_BY}")
    (first,) = make(1, 1, 300_000, path)  # all 80 take minutes
    assert first in packaged()
