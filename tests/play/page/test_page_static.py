"""The static page in real Chromium: after the first load it plays whole games with the network cut, also on a phone."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import chess
import pytest
from playwright.sync_api import Locator, Page, expect

from diffusearch.play.static_page import BUILT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Hosted = Callable[[dict[str, Path]], AbstractContextManager[str]]
LONGEST = 60  # moves of the player; whoever is not mated by then resigns


def typed(page: Page, move: str) -> float:
    """Type a move and wait for the answer or the end of the game; the seconds that it took."""
    moves = page.locator(".list .move")
    before = moves.count()
    start = time.perf_counter()
    page.get_by_label("Type a move").fill(move)
    page.keyboard.press("Enter")
    expect(moves.nth(before + 1).or_(page.get_by_label("Result", exact=True)).first).to_be_visible()
    return time.perf_counter() - start


def board_of(page: Page) -> chess.Board:
    """The game as the page has written it; every move of the engine is checked here by other rules."""
    board = chess.Board()
    for san in page.locator(".list .move").all_inner_texts():
        board.push_san(san.strip())
    return board


def play_to_the_end(page: Page, lots: random.Random) -> chess.Board:
    """Any legal moves against the agent, until the game is over."""
    for _ in range(LONGEST):
        board = board_of(page)
        typed(page, board.san(lots.choice(list(board.legal_moves))))
        if page.get_by_label("Result", exact=True).is_visible():
            return board_of(page)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(page.get_by_label("Result", exact=True)).to_be_visible()
    return board_of(page)


def choose_level(dialog: Locator, words: str) -> None:
    """Move the slider to the level with these words; levels are ordered by their ratings, which change."""
    slider, level = dialog.get_by_label("Strength"), dialog.locator(".level")
    for number in range(int(slider.get_attribute("max") or 0) + 1):
        slider.fill(str(number))
        if words in level.inner_text():
            return
    raise AssertionError(f"no level says {words!r}")


def test_a_whole_game_with_the_network_cut(visitor: Callable[..., Any], hosted: Hosted) -> None:
    with hosted({"/games/chess": BUILT}) as address:
        visit = visitor(f"{address}/games/chess")
        start = time.perf_counter()
        page = visit.open()
        typed(page, "e4")
        first = time.perf_counter() - start
        later = [typed(page, move) for move in ("Nf3", "a3", "h3")]
        visit.kept_for_offline_use()
    visit.context.set_offline(True)  # and the host is gone
    page.reload()
    expect(page.locator(".list .move")).to_have_count(8)  # nothing is lost
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    choose_level(dialog, "one look")  # quick: there are many moves to come
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".list .move")).to_have_count(0)
    board = play_to_the_end(page, random.Random(3))
    print(f"\nfirst move {first:.1f} s after the first load, later ones {', '.join(f'{each:.1f}' for each in later)} s")
    print(f"with the network cut: {len(board.move_stack)} half-moves, {board.result(claim_draw=True)}")
    assert len(board.move_stack) > 10


def test_on_a_phone_with_film_drafts_review_and_puzzles(visitor: Callable[..., Any], hosted: Hosted) -> None:
    with hosted({"/games/chess": BUILT}) as address:
        visit = visitor(f"{address}/games/chess", phone=True)
        page = visit.open("#moves=f2f3,e7e5,g2g4")
        expect(page.locator(".list .move")).to_have_count(3)
        typed(page, "Qh4")
        page.get_by_label("Result", exact=True).get_by_role("button", name="Review").click()
        expect(page.get_by_label("Review", exact=True)).to_have_attribute("aria-busy", "false")
        expect(page.get_by_label("Review", exact=True)).to_contain_text("g4")
        visit.new_game("Joint denoising")
        typed(page, "d4")
        page.get_by_role("button", name="Show it now").click()
        expect(page.locator(".film input")).to_have_attribute("max", "7")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        visit.new_game("DiffuSearch")
        typed(page, "d4")
        page.get_by_role("button", name="Show it now").click()
        expect(page.get_by_role("table", name="Drafted moves").locator("tbody tr")).to_have_count(6)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Puzzles").click()
        expect(page.get_by_role("button", name="Give up")).to_be_enabled()
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_label("Agent").first).to_contain_text("Greedy")
        expect(page.get_by_label("Agent").first).not_to_contain_text("Stockfish")  # needs a server
