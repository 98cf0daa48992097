"""Pictures: the numbers, names and colours of the page, readable arrows, coordinates, SAN, and what is wrong."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import chess
import pytest

from diffusearch.agents.base import Decision
from diffusearch.inference.imagination import Imagination, Ply, letters
from diffusearch.play.opponents import PACKAGED, name_of
from diffusearch.play.pictures import BAD, BOARD, FOE, OWN, WRONG, case_picture, percent, strip_picture
from diffusearch.play.schemas import Thought
from diffusearch.play.thoughts import thought_of

ROOT = chess.STARTING_FEN
SVG = "{http://www.w3.org/2000/svg}"
STYLE = Path(__file__).parents[2] / "web" / "src" / "style"


def ply(move: str, before: chess.Board, **changes: object) -> Ply:
    before.push_uci(move)
    values: dict[str, object] = {"move": move, "legal": True, "state": before.fen(), "problem": None, "follows": True}
    return Ply(**{**values, "squares": letters(before), **changes})  # type: ignore[arg-type]


def imagined() -> Imagination:
    board = chess.Board()
    broken = "r" * 8 + "." * 48 + "R" * 8
    line = (
        ply("e2e4", board),
        ply("e7e5", board, follows=False, wrong=(chess.E5, chess.E7)),
        ply("g1f3", board, state=None, problem="no king", follows=False, squares=broken),
        ply("b8c6", board, legal=False, state=None, follows=False, squares=None),
    )
    return Imagination(ROOT, "e2e4", {"e2e4": 1.0}, line)


def thought(one: Imagination | None = None, move: str = "e2e4", **more: object) -> Thought:
    decision = Decision(chess.Move.from_uci(move), {}, imagination=one, **more)  # type: ignore[arg-type]
    return thought_of("x", chess.Board(), decision)


def words(svg: str) -> list[str]:
    """The texts outside the boards."""
    return [text.text or "" for text in ElementTree.fromstring(svg).findall(f"{SVG}text")]


def test_a_case_shows_numbered_coloured_moves_of_agents_side_by_side() -> None:
    svg = case_picture(
        chess.Board(), {"DiffuSearch": thought(imagined()), "s-a <x>": thought(move="d2d4", value=0.545)}, "c"
    )
    tree = ElementTree.fromstring(svg)
    assert len(tree.findall(f"{SVG}svg")) == 2
    assert words(svg) == ["DiffuSearch: e4", "1", "2", "3", "4", "s-a <x>: d4, 55 % win chance", "c"]
    discs = [disc.get("fill") for disc in tree.findall(f"{SVG}circle")]
    assert discs == [OWN, FOE, OWN, BAD]


def test_coordinates_stand_around_the_boards() -> None:
    for svg in (case_picture(chess.Board(), {"x": thought(imagined())}), strip_picture(thought(imagined()))):
        boards = ElementTree.fromstring(svg).findall(f"{SVG}svg")
        assert {board.get("viewBox") for board in boards} == {"0 0 390 390"}  # python-chess: 360 without coordinates


def test_numbers_stand_on_their_arrows_for_both_sides_and_never_on_each_other() -> None:
    board = chess.Board()
    board.push_uci("e2e4")
    line = tuple(map(chess.Move.from_uci, ("e7e5", "a2a4")))
    seen = thought_of("x", board, Decision(line[0], {}, line=line))
    discs = ElementTree.fromstring(case_picture(board, {"x": seen})).findall(f"{SVG}circle")
    far = 16 + 380 / 390 * (15 + 45 * 7.5)  # seen from Black, the a-file is on the far right
    assert float(discs[1].get("cx", 0)) == pytest.approx(far, abs=0.1)
    there = tuple(map(chess.Move.from_uci, ("g1f3", "b8c6", "f3g1", "c6b8", "g1f3")))  # two arrows on one way
    shuffle = thought_of("x", chess.Board(), Decision(there[0], {}, line=there))
    discs = ElementTree.fromstring(case_picture(chess.Board(), {"x": shuffle})).findall(f"{SVG}circle")
    places = [(float(disc.get("cx", 0)), float(disc.get("cy", 0))) for disc in discs]
    assert min(abs(a - c) + abs(b - d) for i, (a, b) in enumerate(places) for c, d in places[:i]) > 8


def test_a_strip_shows_what_is_expected_and_what_is_wrong_with_it() -> None:
    svg = strip_picture(thought(imagined()))
    assert words(svg) == ["1", "e4", "2", "e5", "2 squares wrong", "3", "Nf3", "no king"]
    assert len(ElementTree.fromstring(svg).findall(f"{SVG}svg")) == 3
    assert WRONG[:7] in svg


def test_strips_end_with_the_game_and_where_nothing_is_predicted() -> None:
    board = chess.Board()
    line = (ply("e2e4", board), Ply(None, True, board.fen(), None, True))
    assert words(strip_picture(thought(Imagination(ROOT, "e2e4", {}, line)))) == ["1", "e4"]
    bare = Imagination(ROOT, "e2e4", {}, (Ply("e2e4", True, None, None, False),))
    assert words(strip_picture(thought(bare))) == []


def test_colours_numbers_and_names_are_those_of_the_page() -> None:
    boards, base = (STYLE / "boards.css").read_text(), (STYLE / "base.css").read_text()
    for kind, colour in (("own", OWN), ("foe", FOE), ("bad", BAD)):
        assert re.search(rf"\.disc\.{kind} {{\s*fill: {colour};", boards), kind
    for name in ("light", "dark"):
        assert f"--{name}-square: light-dark({BOARD[f'square {name}']}" in base
    assert [percent(share) for share in (0.5449, 0.545, 1.0)] == ["54 %", "55 %", "100 %"]  # as Math.round does
    assert name_of("search") == next(one.name for one in PACKAGED if one.id == "search")
    assert name_of("search?strength=20") == "search?strength=20"
