from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from diffusearch.data.filters import HeaderFilter
from diffusearch.data.pgn import Broken
from diffusearch.data.source_games import Dropped, SourceGame, entries
from diffusearch.errors import UserError

PUZZLES = """PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes
aaa,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1900,80,95,100,crushing
bbb,8/8/8/8/8/8/8/8 w - - 0 1,e2e4 e7e5,1000,80,95,100,x
ccc,rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1,e2e4 e2e4,1000,80,95,100,x
ddd
"""


def read_all(path: Path, wanted: HeaderFilter = HeaderFilter(), own: bool = False) -> list[SourceGame | str]:
    games: list[SourceGame | str] = []
    for entry in entries(str(path), own):
        try:
            games.append(entry.read(wanted))
        except (Broken, Dropped) as reason:
            games.append(str(reason))
    return games


def test_a_puzzle_gives_the_solvers_positions(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(PUZZLES)
    first, second, third, fourth = read_all(path)
    assert isinstance(first, SourceGame)
    assert list(first.plies) == [1, 3, 5]
    assert first.rating == 1900
    assert first.key == "aaa"
    assert (second, third, fourth) == ("bad start position", "illegal move", "bad start position")


def test_puzzles_are_filtered_by_their_rating(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(PUZZLES)
    assert read_all(path, HeaderFilter(max_rating=1800))[0] == "rating"
    assert read_all(path, HeaderFilter(min_rating=2000)) == ["rating"] * 4


def test_a_csv_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="PuzzleId"):
        read_all(path)


@pytest.mark.parametrize(("tag", "skipped"), [("", 16), ('[BookPlies "4"]\n', 4), ('[BookPlies "90"]\n', 20)])
def test_book_plies_of_engine_games_are_no_labels(tmp_path: Path, tag: str, skipped: int) -> None:
    path = tmp_path / "e.pgn"
    shuffle = " ".join(f"{n}. Nf3 Nf6" if n % 2 else f"{n}. Ng1 Ng8" for n in range(1, 11))
    path.write_text(f'[Event "x"]\n{tag}\n{shuffle} *\n')
    (own,) = read_all(path, own=True)
    (human,) = read_all(path)
    assert isinstance(own, SourceGame)
    assert isinstance(human, SourceGame)
    assert own.plies.start == skipped
    assert own.plies.stop == 20
    assert human.plies == range(20)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstandard.compress)]
)
def test_a_damaged_archive_ends_with_a_reason(
    tmp_path: Path, games_pgn: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"cut.pgn.{suffix}"
    packed = pack(games_pgn.read_bytes() * 8)  # several blocks, also of bzip2
    path.write_bytes(packed[: len(packed) * 3 // 4])
    stream, whole = entries(str(path), False), []
    with pytest.raises(Broken, match="damaged archive"):
        whole.extend(stream)
    assert len(whole) > 50


def test_labelled_records_are_a_source(labelled: Path) -> None:
    game = read_all(labelled)[0]
    assert isinstance(game, SourceGame)
    assert game.plies == range(0, 1)
    assert game.played is not None
