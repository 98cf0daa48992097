"""Sources from strangers: a small archive that unpacks to a huge line takes bounded memory and is refused by name."""

from __future__ import annotations

import bz2
import csv
import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from diffusearch.data import streams
from diffusearch.data.filters import HeaderFilter
from diffusearch.data.pgn import Broken
from diffusearch.data.source_games import entries
from diffusearch.data.streams import LINE_BYTES, open_text, read_table
from diffusearch.errors import UserError

MEGABYTE = b"a" * (1 << 20)
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def zstd_bomb(megabytes: int) -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join([*(packer.compress(MEGABYTE) for _ in range(megabytes)), packer.flush()])


BOMBS: dict[str, Callable[[], bytes]] = {
    "zst": lambda: zstd_bomb(1024),
    "gz": lambda: gzip.compress(MEGABYTE * 64),
    "bz2": lambda: bz2.compress(MEGABYTE * 64),
    "txt": lambda: MEGABYTE * 64,
}


@pytest.mark.parametrize("suffix", BOMBS)
def test_a_line_without_end_is_refused_in_bounded_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb.pgn.{suffix}"
    path.write_bytes(BOMBS[suffix]())
    tracemalloc.start()
    try:
        with open_text(str(path)) as lines, pytest.raises(UserError, match=rf"bomb.*line of more than {LINE_BYTES}"):
            next(lines)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * len(MEGABYTE)


def test_a_piece_of_zstd_is_small_whatever_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(zstd_bomb(256))
    with path.open("rb") as file:
        frames = streams._ZstdFrames(file)
        sizes = []
        while piece := frames.read():
            sizes.append(len(piece))
    assert sum(sizes) == 256 * len(MEGABYTE)
    assert max(sizes) <= 16 * len(MEGABYTE)


def test_a_frame_that_asks_for_a_huge_window_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.pgn.zst"
    parameters = zstandard.ZstdCompressionParameters(window_log=29, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(packer.compress(b"1. e4 *\n") + packer.flush())
    with pytest.raises(Broken, match="damaged archive"):
        list(entries(str(path), False))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_many_lines_of_usual_length_are_no_long_line(tmp_path: Path, end: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes((("b" * 1000 + end) * 3000).encode())
    with open_text(str(path)) as lines:
        assert sum(len(line) for line in lines) == 3000 * 1001


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * LINE_BYTES + b"\nend")
    with open_text(str(path)) as lines:
        assert [len(line) for line in lines] == [LINE_BYTES + 1, 3]


def test_a_table_row_is_bounded_over_its_line_breaks() -> None:
    """Each field is short and each line is short, yet a quote at each line's end makes them one row."""
    lines = ["a,b\n", '1,"\n', *['","\n'] * LINE_BYTES]
    with pytest.raises(UserError, match=r"p\.csv has a row of more than"):
        list(read_table(lines, "p.csv", ("a",)))


def test_a_field_that_is_never_closed_is_no_table() -> None:
    with pytest.raises(csv.Error):
        list(read_table(["a,b\n", '1,"', *["x" * 1000 + "\n"] * 1000], "p.csv", ("a",)))


def test_a_puzzle_of_too_many_moves_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    moves = "g1f3 g8f6 f3g1 f6g8 " * 1001
    path.write_text(f"PuzzleId,FEN,Moves,Rating\na,{START},{moves},1500\nb,{START * 999},e2e4 e7e5,1500\n")
    reasons = []
    for entry in entries(str(path), False):
        with pytest.raises(Broken) as broken:
            entry.read(HeaderFilter())
        reasons.append(broken.value.reason)
    assert reasons == ["game too long", "bad start position"]
