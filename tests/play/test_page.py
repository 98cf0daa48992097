"""The page in real Chromium: a game to the end, promotion, taking back, the film, bad input, phones, accessibility."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from diffusearch.play.puzzles import puzzles

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PROMOTIONS = {"q": "Queen", "r": "Rook", "b": "Bishop", "n": "Knight"}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("DIFFUSEARCH_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on the PATH; install it or set DIFFUSEARCH_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A fresh visitor of the page; anything in the console that is an error is collected."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.context.set_default_timeout(20_000)
        self.page: Page = self.context.new_page()
        self.address = address
        self.faults: list[str] = []
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, hash_: str = "") -> Page:
        self.page.goto(self.address + "/" + hash_)
        expect(self.page.locator(".player").last).to_contain_text("You")
        return self.page


@pytest.fixture
def visit(browser: Browser, page_server: Any) -> Iterator[Visit]:
    visit = Visit(browser, page_server.address)
    yield visit
    visit.context.close()
    assert visit.faults == []


def square(page: Page, name: str) -> Any:
    return page.locator(f"#board [data-square={name}]")


def drag(page: Page, source: str, target: str) -> None:
    square(page, source).hover()
    page.mouse.down()
    square(page, target).hover()
    page.mouse.up()


def moves(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".list .move").all_inner_texts()]


def play(page: Page, move: str, count: int) -> None:
    """Type a move and wait until the game has `count` half-moves."""
    page.get_by_label("Type a move").fill(move)
    page.keyboard.press("Enter")
    expect(page.locator(".list .move")).to_have_count(count)


def test_a_game_to_the_end_with_the_mouse(visit: Visit) -> None:
    page = visit.open()
    drag(page, "f2", "f3")
    expect(page.locator(".list .move")).to_have_count(2)
    assert moves(page) == ["f3", "e5"]
    square(page, "g2").click()
    square(page, "g4").click()
    expect(page.locator(".result")).to_contain_text("0-1")
    expect(page.locator(".result")).to_contain_text("checkmate")
    assert moves(page)[-1] == "Qh4#"
    expect(page.locator("#board .mark.check")).to_have_attribute("slot", "e1")
    expect(page.get_by_role("button", name="Resign")).to_be_disabled()
    # Nobody can move any more.
    drag(page, "a2", "a3")
    assert len(moves(page)) == 4


def test_a_game_by_keyboard_alone(visit: Visit) -> None:
    page = visit.open()
    square(page, "a1").focus()
    for key in ["ArrowRight"] * 4 + ["ArrowUp", "Enter", "ArrowUp", "ArrowUp", "Enter"]:
        page.keyboard.press(key)
    expect(page.locator(".list .move")).to_have_count(2)
    assert moves(page)[0] == "e4"
    page.keyboard.press("f")  # the board is turned; the focus stays on it
    expect(page.locator("#board")).to_have_attribute("orientation", "black")
    page.keyboard.press("u")
    expect(page.locator(".list .move")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_an_illegal_move_goes_back(visit: Visit) -> None:
    page = visit.open()
    drag(page, "e2", "e5")
    assert moves(page) == []
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, white pawn")
    page.get_by_label("Type a move").fill("Ke4")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Ke4 is not a legal move")


def test_promotion_is_asked_for(visit: Visit) -> None:
    page = visit.open("#fen=8%2FP6k%2F8%2F8%2F8%2F8%2F7K%2F8+w+-+-+0+1")
    drag(page, "a7", "a8")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Promote to")
    page.keyboard.press("Escape")
    expect(square(page, "a7")).to_have_attribute("aria-label", "a7, white pawn")
    drag(page, "a7", "a8")
    dialog.get_by_role("button", name="Knight").click()
    expect(page.locator(".list .move").first).to_have_text("a8=N")
    expect(square(page, "a8")).to_have_attribute("aria-label", "a8, white knight")


def test_castling_moves_the_rook_too(visit: Visit) -> None:
    page = visit.open("#fen=4k3%2F8%2F8%2F8%2F8%2F8%2F8%2F4K2R+w+K+-+0+1")
    drag(page, "e1", "g1")
    expect(page.locator(".list .move").first).to_have_text("O-O")
    expect(square(page, "f1")).to_have_attribute("aria-label", "f1, white rook")


def test_take_back_and_browse(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    play(page, "Nf3", 4)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".list .move")).to_have_count(2)
    expect(square(page, "g1")).to_have_attribute("aria-label", "g1, white knight")
    page.get_by_role("button", name="First position").click()
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, white pawn")
    page.get_by_role("button", name="Last position").click()
    expect(square(page, "e4")).to_have_attribute("aria-label", "e4, white pawn")


def test_resign_and_new_game_as_black(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    page.get_by_role("button", name="Resign").click()
    expect(page.locator(".result")).to_contain_text("White resigned")
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Black").check()
    dialog.get_by_label("Strength").fill("0")
    expect(dialog).to_contain_text("2 steps")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".list .move")).to_have_count(1)  # the agent has opened
    expect(page.locator("#board")).to_have_attribute("orientation", "black")
    expect(page.locator(".player").first).to_contain_text("Dreamer 2 steps")


def test_the_imagination_and_its_film(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    panel = page.locator(".foresight")
    expect(panel.locator(".candidates li.chosen")).to_contain_text("e5")
    expect(panel.locator(".candidates li")).to_have_count(6)
    expect(panel.locator(".strip li")).to_have_count(4)
    expect(panel.locator(".strip .mark.wrong")).to_have_count(1)
    expect(panel).to_contain_text("1 square wrong")
    # The first imagined move is on the board already; the rest are arrows with their numbers.
    expect(page.locator(".numbers text")).to_have_text(["2", "3", "4"])
    slider = panel.get_by_label(re.compile("Denoising step"))
    slider.fill("0")
    expect(panel.locator(".mark.masked")).to_have_count(4 * 64)
    expect(page.locator(".numbers text")).to_have_count(0)
    expect(panel.locator(".strip .ply .san")).to_have_text(["?"] * 4)
    slider.fill("4")
    expect(panel.locator(".mark.masked")).to_have_count(4 * 32)
    expect(panel.locator(".mark.fresh")).to_have_count(4 * 8)
    expect(panel.locator(".strip .ply .san").nth(2)).to_have_text("?")
    expect(page.locator(".numbers text")).to_have_text(["2"])
    slider.press("End")
    expect(panel.locator(".mark.masked")).to_have_count(0)
    expect(panel.locator(".strip .mark.wrong")).to_have_count(1)
    panel.get_by_role("button", name="Play the film").click()
    expect(panel.get_by_role("button", name="Stop the film")).to_be_visible()
    expect(panel.get_by_role("button", name="Play the film")).to_be_visible()  # it stops by itself
    page.get_by_label("Arrows").uncheck()
    expect(page.locator(".numbers text")).to_have_count(0)


def test_did_you_play_what_it_expected(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    play(page, "d4", 4)  # what the dreamer dreams of
    expect(page.locator(".expected")).to_contain_text("You played d4, as it expected")
    play(page, "a3", 6)
    expect(page.locator(".expected")).to_contain_text("You played a3; it expected")
    expect(page.locator(".expected")).to_contain_text("1 of 2 foreseen")


def test_paste_refuses_bad_fens_and_takes_good_games(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Paste FEN or PGN").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("FEN or PGN", exact=True)
    field.fill("8/8/8/8/8/8/8/8 w - - 0 1")
    dialog.get_by_role("button", name="Set up").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no king")
    field.fill('[White "Ann"]\n[Black "Bob"]\n\n1. e4 c5 2. Nf3 *')
    dialog.get_by_role("button", name="Set up").click()
    expect(dialog).to_be_hidden()
    assert moves(page) == ["e4", "c5", "Nf3"]
    expect(page.locator(".player").last).to_contain_text("Ann")
    visit.faults.clear()  # Chromium reports the refused request (400) itself


def test_a_bad_link_is_explained(visit: Visit) -> None:
    page = visit.open("#fen=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("not a FEN")
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, white pawn")
    visit.faults.clear()


def test_share_download_and_reload(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PGN").click()
    text = Path(download.value.path()).read_text()
    assert '[White "You"]' in text
    assert "1. e4 e5" in text
    page.reload()  # the game lives here, not on the server
    expect(page.locator(".list .move")).to_have_count(2)
    page.get_by_role("button", name="Share link").click()
    link = page.get_by_label("Link").input_value()
    assert link.endswith("#moves=e2e4%2Ce7e5")
    page.keyboard.press("Escape")
    other = visit.context.new_page()
    other.goto(link)
    expect(other.locator(".list .move")).to_have_count(2)
    play(other, "Nf3", 4)
    other.reload()  # and goes on from there
    expect(other.locator(".list .move")).to_have_count(4)


def test_compare_two_agents(visit: Visit) -> None:
    page = visit.open()
    play(page, "e4", 2)
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("main").get_by_role("button", name="Compare").click()
    left, right = page.get_by_label("Left agent"), page.get_by_label("Right agent")
    expect(left.locator(".headline")).to_contain_text("d4")
    expect(right.locator(".headline")).to_contain_text("a3")
    expect(left.locator(".strip li")).to_have_count(4)
    expect(right.locator(".strip li")).to_have_count(1)
    expect(page.get_by_role("main")).to_contain_text("different moves")
    expect(left.locator("option", has_text="Absent")).to_be_disabled()


def test_puzzles_move_both_ratings(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Puzzles").click()
    expect(page.get_by_label("Task")).to_contain_text("to move and win")
    expect(page.locator("#puzzle .has-piece").first).to_be_visible()
    page.get_by_role("button", name="Give up").click()
    task = page.get_by_label("Task")
    expect(task).to_contain_text("The solution:")
    ratings = task.locator("dd")
    expect(ratings.first).not_to_have_text("900")
    expect(page.get_by_label("The agent's attempt")).to_contain_text("Dreamer")
    expect(ratings.last).not_to_have_text("900")
    page.get_by_role("button", name="Next puzzle").click()
    expect(task).to_contain_text("to move and win")


def test_a_puzzle_is_solved_on_the_board(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Puzzles").click()
    first = min(puzzles(), key=lambda puzzle: abs(puzzle.rating - 900))  # the page begins with the nearest
    for number, uci in enumerate(first.solution):
        if number % 2 == 0:
            task = "to move and win" if number == 0 else "And now?"
            expect(page.get_by_label("Task")).to_contain_text(task)
            page.locator(f"#puzzle [data-square={uci[:2]}].moveable").click()
            page.locator(f"#puzzle [data-square={uci[2:4]}].move-target").click()
            if len(uci) == 5:
                page.get_by_role("dialog").get_by_role("button", name=PROMOTIONS[uci[4]]).click()
    expect(page.get_by_label("Task")).to_contain_text("Solved!")
    assert int(page.get_by_label("Task").locator("dd").first.inner_text()) > 900


def test_licences_are_a_click_away(visit: Visit) -> None:
    page = visit.open()
    href = page.get_by_role("link", name="licences").get_attribute("href")
    assert "Colin M.L. Burnett" in page.request.get(f"{visit.address}/{href}").text()


def test_the_page_fits_a_phone(browser: Browser, page_server: Any) -> None:
    visit = Visit(browser, page_server.address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = visit.open()
    square(page, "e2").tap()
    square(page, "e4").tap()
    expect(page.locator(".list .move")).to_have_count(2)
    for mode in ("Play", "Compare", "Puzzles"):
        page.get_by_label("Modes").get_by_role("button", name=mode).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, mode
    assert visit.faults == []
    visit.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(browser: Browser, page_server: Any, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; run `npm ci` in web/")
    visit = Visit(browser, page_server.address, color_scheme=scheme)
    page = visit.open()
    play(page, "e4", 2)

    def faults(rules: dict[str, Any]) -> list[tuple[str, list[str]]]:
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text())
        # The small boards are pictures to a screen reader (role img); their squares are left out to save time.
        found = page.evaluate("rules => axe.run({exclude: ['.mini']}, rules)", rules)["violations"]
        return [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found]

    # The schemes differ in their colours only, so each view has one full check and the game's colours have two.
    assert faults({} if scheme == "light" else {"runOnly": ["color-contrast"]}) == []
    if scheme == "light":
        page.get_by_role("button", name="New game").click()
        assert faults({}) == []
    else:
        for mode in ("Compare", "Puzzles"):
            page.get_by_label("Modes").get_by_role("button", name=mode).click()
            expect(page.locator("g-chess-board .mark, #puzzle").first).to_be_attached()
            assert faults({}) == [], mode
    assert visit.faults == []
    visit.context.close()
