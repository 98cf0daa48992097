from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import chess

from diffusearch.agents.base import Decision
from diffusearch.inference.imagination import Imagination, Ply
from diffusearch.play.pictures import ILLEGAL, MINE, NEXT, THEIRS, WRONG, case_picture, steps_of, strip_picture

ROOT = chess.STARTING_FEN
SVG = "{http://www.w3.org/2000/svg}"


def ply(move: str | None, before: chess.Board, **changes: object) -> Ply:
    if move is not None:
        before.push_uci(move)
    values: dict[str, object] = {"move": move, "legal": True, "state": before.fen(), "problem": None, "follows": True}
    return Ply(**{**values, **changes})  # type: ignore[arg-type]


def imagined() -> Imagination:
    board = chess.Board()
    broken = "r" * 8 + "." * 48 + "R" * 8
    line = (
        ply("e2e4", board),
        ply("e7e5", board, follows=False, wrong=(chess.E5, chess.E7)),
        ply("g1f3", board, state=None, problem="no king", follows=False, squares=broken),
        ply("b8c6", board, legal=False, state=None, follows=False),
    )
    return Imagination(ROOT, "e2e4", {"e2e4": 1.0}, line)


def decision(one: Imagination | None = None, move: str = "e2e4", **more: object) -> Decision:
    return Decision(chess.Move.from_uci(move), {}, imagination=one, **more)  # type: ignore[arg-type]


def words(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_case_shows_numbered_coloured_moves_of_agents_side_by_side() -> None:
    svg = case_picture(
        chess.Board(), {"diffusearch": decision(imagined()), "s-a <x>": decision(move="d2d4", value=0.54)}, "c"
    )
    tree = ElementTree.fromstring(svg)
    assert len(tree.findall(f"{SVG}svg")) == 2
    assert words(svg) == ["diffusearch: e4", "1", "2", "3", "s-a <x>: d4, win 54 %", "c"]
    discs = [disc.get("fill") for disc in tree.findall(f"{SVG}circle")]
    assert discs == [THEIRS, MINE, ILLEGAL]
    assert NEXT in svg


def test_counters_stand_on_their_arrows_for_both_sides() -> None:
    board = chess.Board()
    board.push_uci("e2e4")
    line = (Ply("e7e5", True, None, None, True), Ply("a1a3", True, None, None, True))
    black = ElementTree.fromstring(case_picture(board, {"x": decision(Imagination("", "e7e5", {}, line), "e7e5")}))
    (disc,) = black.findall(f"{SVG}circle")
    # seen from Black, a2 (the middle of a1-a3) is on the far right, second row from above
    assert float(disc.get("cx", 0)) == 16 + 7.5 * 45
    assert float(disc.get("cy", 0)) == 34 + 1.5 * 45


def test_steps_end_with_the_game_and_a_principal_line_serves_too() -> None:
    over = Imagination(ROOT, "e2e4", {}, (Ply("e2e4", True, None, None, True), Ply(None, False, None, None, True)))
    assert [step.move.uci() for step in steps_of(decision(over))] == ["e2e4"]
    line = tuple(map(chess.Move.from_uci, ("e2e4", "c7c5")))
    assert [step.move.uci() for step in steps_of(decision(line=line))] == ["e2e4", "c7c5"]
    assert [step.move.uci() for step in steps_of(decision())] == ["e2e4"]


def test_a_strip_shows_what_is_imagined_and_what_is_wrong_with_it() -> None:
    svg = strip_picture(imagined())
    assert words(svg) == [
        "now",
        "1. e2e4",
        "follows from the move",
        "2. e7e5",
        "2 squares are not the move's result",
        "3. g1f3",
        "no valid position: no king",
    ]
    assert len(ElementTree.fromstring(svg).findall(f"{SVG}svg")) == 4
    assert WRONG[:7] in svg


def test_strips_end_where_no_state_is_imagined_and_say_game_over() -> None:
    board = chess.Board()
    line = (ply("e2e4", board), Ply(None, True, board.fen(), None, True))
    assert "2. game over" in words(strip_picture(Imagination(ROOT, "e2e4", {}, line)))
    bare = Imagination(ROOT, "e2e4", {}, (Ply("e2e4", True, None, None, False),))
    assert words(strip_picture(bare)) == ["now"]
