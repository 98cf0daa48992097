"""The main line of a movetext, also of hostile ones: the work is linear, and what is too deep or too long is named."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from diffusearch.data import pgn
from diffusearch.data.filters import HeaderFilter, number, rating_of
from diffusearch.data.label_run import LabelRun, label_games
from diffusearch.data.labelling import LabelSettings
from diffusearch.data.movetext import NESTING, Broken, main_words
from diffusearch.data.pgn import GAME_CHARACTERS, GAME_PLIES, first_game
from diffusearch.data.plan import Choice
from diffusearch.data.source_games import entries

SIZE = GAME_CHARACTERS - 1000
# Text -> the reason for which it is broken, None where it is a game without moves.
HOSTILE = {
    "braces": ("{" * SIZE, None),
    "closing braces": ("}" * SIZE, None),
    "empty comments": ("{}" * (SIZE // 2), None),
    "open comments on many lines": ("{\n" * (SIZE // 2), None),
    "parentheses": ("(" * SIZE, "variations too deeply nested"),
    "nested variations": ("1. e4 " + "(1. d4 " * (SIZE // 16) + ") " * (SIZE // 16), "variations too deeply nested"),
    "closing parentheses": (")" * SIZE, None),
    "empty variations": ("()" * (SIZE // 2), None),
    "semicolons": (";" * SIZE, None),
    "glyphs": ("$1" * (SIZE // 2), None),
    "one long glyph": ("1. e4 $" + "9" * SIZE, ""),
    "points": ("." * SIZE, None),
    "numbers": ("1." * (SIZE // 2), None),
    "one long word": ("e4" * (SIZE // 2), "unreadable move"),
    "quotation marks": ('[White "' + '"]' * (SIZE // 2) + "x\n\n*", None),
    "spaces in a tag": ("[White" + " " * SIZE + "x\n\n*", None),
    "many tags": ('[A "b"]\n' * (SIZE // 8) + "\n*", None),
    "a long start": (f'[FEN "{"8/" * (SIZE // 2)}"]\n\n1. e4', "bad start position"),
    "knights": ("Nf3 Nf6 Ng1 Ng8 " * (GAME_PLIES // 4 + 1), "game too long"),
    "too many characters": ("1. e4 {" + "a" * GAME_CHARACTERS + "} *", "game too long"),
}


@pytest.mark.usefixtures("linear_work")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_work(name: str) -> None:
    text, reason = HOSTILE[name]
    if reason:
        with pytest.raises(Broken, match=reason) as broken:
            first_game(text)
        assert len(broken.value.detail) <= 120
    else:
        _, line = first_game(text)
        assert len(line.moves) == (0 if reason is None else 1)


@pytest.mark.usefixtures("linear_work")
def test_label_passes_over_hostile_games(tmp_path: Path) -> None:
    """A file with such games: the next good game is labelled, and each reason is counted."""
    good = "1. e4 e5 2. Nf3 Nc6 *\n\n"
    texts = [text for text, reason in HOSTILE.values() if reason and "\n\n" not in text]
    path = tmp_path / "hostile.pgn"
    path.write_text("".join(f'[Event "x"]\n\n{text}\n\n' for text in texts) + '[BookPlies "0"]\n\n' + good)
    run = LabelRun((str(path),), tmp_path / "out", Choice(), LabelSettings("played"))
    counts = label_games(run, lambda _: None).counts
    assert counts["kept"] == 1
    assert counts["positions"] == 4
    assert counts["broken: variations too deeply nested"] == 2
    assert counts["broken: game too long"] == 2


def test_a_comment_without_an_end_keeps_no_memory() -> None:
    """The splitter skips what is beyond the limit: the game has a bounded size, however long the file is."""
    lines = ['[Event "x"]\n', "\n", "1. e4 {\n", *["a" * 1000 + "\n"] * 3000]
    (raw,) = pgn.split(lines)
    assert raw.cut
    assert len(raw.text) <= GAME_CHARACTERS + 1
    with pytest.raises(Broken, match="game too long"):
        pgn.main_line(raw)


@pytest.mark.parametrize(
    ("movetext", "words"),
    [
        ("1. e4 {a (b) ; c} e5 (1... c5 {x ) y} 2. Nf3 (2. c3)) 2. Nf3 $14 *", "1. e4 e5 2. Nf3 *"),
        ("1. e4 ; {not opened\ne5", "1. e4 e5"),
        ("% 1. d4\n1. e4\n%(\n[Tag (\n; (\ne5", "1. e4 e5"),
        ("1. e4 % e5", "1. e4 % e5"),
        ("1. e4 (1. d4", "1. e4"),
        ("1. e4 {1... e5", "1. e4"),
        (") 1. e4 } e5", "1. e4 } e5"),
        ("(" * NESTING + ")" * NESTING + "e4", "e4"),
    ],
)
def test_only_the_main_line_is_kept(movetext: str, words: str) -> None:
    assert main_words(movetext) == words


def test_a_comment_that_fills_a_line_does_not_end_the_game() -> None:
    """python-chess ends a game at a blank line; the line of a comment that was cut out must not become one."""
    _, line = first_game("1. e4\n{a comment}\ne5\n(1... c5)\n2. Nf3 *\n")
    assert [move.uci() for move in line.moves] == ["e2e4", "e7e5", "g1f3"]


def test_the_first_game_of_a_text() -> None:
    headers, line = first_game(
        '\ufeff[White "A"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n*\n\n[White "B"]\n\n1. e4'
    )
    assert headers["White"] == "A"
    assert line.start.fen() == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert line.moves == ()
    for text in ("", "hello"):
        headers, line = first_game(text)
        assert (headers, line.moves) == ({}, ())
    with pytest.raises(Broken) as broken:
        first_game("1. e4 e5 2. Ke3")
    assert (broken.value.reason, "Ke3" in broken.value.detail) == ("illegal move", True)


@pytest.mark.parametrize("digits", ["9" * 5000, "40000", "-5", "²"])
def test_numbers_of_headers_are_bounded(digits: str, tmp_path: Path) -> None:
    """A rating must fit its column, and more digits than Python converts must not stop the run."""
    assert rating_of(digits) is None
    path = tmp_path / "a.pgn"
    path.write_text(f'[WhiteElo "{digits}"]\n[BlackElo "{digits}"]\n[BookPlies "{digits}"]\n\n1. e4 *\n')
    (entry,) = entries(str(path), own_plies=True)
    assert entry.read(HeaderFilter()).rating is None
    assert number("9" * 5000) is None


def test_a_start_with_impossible_clocks_is_refused() -> None:
    (raw,) = pgn.split(io.StringIO('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 99999"]\n\n1. e4 *\n'))
    with pytest.raises(Broken, match="bad start position"):
        pgn.main_line(raw)
