from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.data import pgn
from diffusearch.data.streams import open_text, pool_name
from diffusearch.errors import UserError

ODD = """\ufeff% an escape line
; a comment before the game
[Event "one"]
[White "a \\"quoted\\" name"]
[Broken tag
[Result "1-0"]

1. e4 {a comment

with a blank line and [brackets]
[at the start of a line]} e5 2. Nf3 (2. Nc3 Nf6 (2... d6)) 2... Nc6 $1 3. Bb5 a6! ; rest {of the line
% escaped
4. O-O?? 0-0-0 {illegal}

[Event "two"]

[Site "a blank line between tags"]

1. d4 d5 2. c4 *
[Event "not a tag here"]


[Event "three has no moves"]


1. f4 e5 no headers at all
2. g4 Qh4# 0-1

[Event "four"]
1. a4 1/2-1/2"""


def with_python_chess(text: str) -> list[tuple[dict[str, str], list[chess.Move]]]:
    handle, games = io.StringIO(text), []
    while (game := chess.pgn.read_game(handle)) is not None:
        games.append((dict(game.headers), list(game.mainline_moves())))
    return games


def with_us(text: str) -> list[tuple[dict[str, str], list[chess.Move] | str]]:
    games: list[tuple[dict[str, str], list[chess.Move] | str]] = []
    for raw in pgn.split(io.StringIO(text)):
        try:
            games.append((raw.headers(), list(pgn.main_line(raw).moves)))
        except pgn.Broken as broken:
            games.append((raw.headers(), str(broken)))
    return games


def test_games_are_cut_and_read_as_python_chess_does(games_pgn: Path) -> None:
    text = games_pgn.read_text()
    ours, theirs = with_us(text), with_python_chess(text)
    assert [moves for _, moves in ours] == [moves for _, moves in theirs]
    assert all(headers.items() <= full.items() for (headers, _), (full, _) in zip(ours, theirs, strict=True))


def test_odd_text_is_cut_at_the_same_places() -> None:
    ours, theirs = with_us(ODD), with_python_chess(ODD)
    assert len(ours) == len(theirs) == 5
    assert [headers.get("Event") for headers, _ in ours] == ["one", "two", "three has no moves", None, "four"]
    assert ours[0][1] == "illegal move"
    assert ours[2][1] == "no moves"
    for number in (1, 3, 4):
        assert ours[number][1] == theirs[number][1]
    assert ours[0][0]["White"] == 'a \\"quoted\\" name'


LINES = st.sampled_from(
    ["\n", '[Event "x"]\n', "[bad\n", "1. e4 e5\n", "{ a\n", "b }\n", "; rest {\n", "% {\n", "2. Nf3 ; {\n", "{x} *\n"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=25))
def test_any_text_is_cut_at_the_same_places(lines: list[str]) -> None:
    text = "".join(lines)
    ours = [len(moves) if isinstance(moves, list) else 0 for _, moves in with_us(text)]
    theirs = [moves for _, moves in with_python_chess(text)]
    assert len(ours) == len(theirs)
    for mine, moves in zip(ours, theirs, strict=True):
        assert mine in (0, len(moves))  # 0: we call a game broken where python-chess keeps its legal beginning


@pytest.mark.parametrize(
    ("movetext", "reason"),
    [
        ("1. e4 e5 2. Ke3", "illegal move"),
        ("1. Nf3 a6 2. Nd4 a5 3. Nc3 a4 4. Nb5", "ambiguous move"),
        ("1. -- e5", "null move"),
        ("1. e4 e5 2. Sf3 Sc6 *", "unreadable move"),  # German: python-chess reads f3 and c6
        ("1. e4 e5 2. Qxh9", "unreadable move"),  # python-chess passes over it
        ("1. e4 Cf6 2. e5", "unreadable move"),
        ("*", "no moves"),
    ],
)
def test_broken_games_have_a_reason(movetext: str, reason: str) -> None:
    (raw,) = pgn.split(io.StringIO(f'[Event "x"]\n\n{movetext}\n'))
    with pytest.raises(pgn.Broken, match=reason):
        pgn.main_line(raw)


@pytest.mark.parametrize(
    "movetext",
    [
        "1.e4 e5 2.Nf3! Nc6?! 3.Bb5 $14 a6 4.Ba4 +/- 1/2-1/2",
        "1. e4! {Sf3 is German; (so) it is} e5 (1... c5 2. Sf3 (2. Cc3)) 2. Nf3 ; Sc6 would be\n2... Nc6 1-0",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8xc6 *",
        "1. e4 a6 2. e5 d5 3. exd6 e.p. Nc6 4. dxc7 a5 5. cxd8=Q+ Kxd8 6. O-O?? *",
        "%escaped Sf3\n1. e4 0-1",
    ],
)
def test_words_that_belong_in_a_game(movetext: str) -> None:
    assert pgn.strange_word(movetext) is None


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ('[Variant "Atomic"]', "variant"),
        ('[Variant "Chess960"]', "variant"),
        ('[Variant "No such thing"]', "variant"),
        ('[FEN "not a fen"]', "bad start position"),
        ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]', "bad start position"),
    ],
)
def test_only_standard_chess_is_read(tag: str, reason: str) -> None:
    (raw,) = pgn.split(io.StringIO(f"{tag}\n\n1. e4 e5 *\n"))
    with pytest.raises(pgn.Broken, match=reason):
        pgn.main_line(raw)


def test_a_game_from_a_set_up_position_is_read() -> None:
    (raw,) = pgn.split(io.StringIO('[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 *\n'))
    line = pgn.main_line(raw)
    assert line.start.fen() == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert [move.uci() for move in line.moves] == ["e2e4", "e8d7"]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".pgn", lambda data: data),
        (".pgn.gz", gzip.compress),
        (".pgn.bz2", bz2.compress),
        (".pgn.zst", lambda data: zstandard.compress(data[:5000]) + zstandard.compress(data[5000:])),
    ],
)
def test_packed_files_are_streamed(
    games_pgn: Path, tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"some{suffix}"
    path.write_bytes(pack(games_pgn.read_bytes()))
    with open_text(str(path)) as lines:
        assert sum(1 for _ in pgn.split(lines)) == 300
    assert pool_name(str(path)) == "some"


def test_a_pipe_is_read_like_a_file(games_pgn: Path) -> None:
    program = (
        "from diffusearch.data import pgn\nfrom diffusearch.data.streams import open_text\n"
        "with open_text('-') as lines: print(sum(1 for _ in pgn.split(lines)))"
    )
    packed = zstandard.compress(games_pgn.read_bytes())
    done = subprocess.run([sys.executable, "-c", program], input=packed, capture_output=True, check=True)
    assert done.stdout.strip() == b"300"


def test_a_missing_file_is_the_users_error() -> None:
    with pytest.raises(UserError, match="no-such"), open_text("no-such.pgn"):
        pass


def test_memory_stays_flat_however_long_the_stream() -> None:
    """The splitter holds one game at a time: it can be fed without end."""
    import itertools
    import tracemalloc

    endless = itertools.cycle(['[Event "x"]\n', "\n", "1. e4 e5 2. Nf3 *\n", "\n"])
    games = pgn.split(endless)
    next(games)
    tracemalloc.start()
    for _ in itertools.islice(games, 20_000):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000
