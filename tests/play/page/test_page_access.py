"""The page for everybody: a whole game by keyboard, words for screen readers, phones, axe-core without a finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until the named element has the focus, as somebody without a mouse does."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()") == name:
            return
    raise AssertionError(f"Tab does not reach {name!r}")


def test_a_whole_game_by_keyboard_with_its_words(visit: Any) -> None:
    page = visit.open()
    said = page.get_by_role("status")
    visit.square("a1").focus()
    press(page, *["ArrowRight"] * 5, "ArrowUp", "Enter", "ArrowUp", "Enter")  # f2 to f3
    expect(page.locator(".list .move")).to_have_count(2)
    expect(said).to_have_text("Dreamer: e5")
    press(page, "ArrowDown", "ArrowRight", "Enter", "ArrowUp", "ArrowUp", "Enter")  # g2 to g4
    expect(page.locator(".list .move")).to_have_count(4)
    expect(said).to_have_text("Dreamer: queen h4, checkmate. Game over, Black wins: checkmate")
    tab_to(page, "Rematch", most=3)  # right behind the board
    press(page, "Tab", "Enter")  # Review
    expect(page.get_by_label("Review", exact=True)).to_have_attribute("aria-busy", "false")
    expect(said).to_contain_text("The review is ready")
    assert page.evaluate("document.activeElement.id") == "review"  # the focus is not lost
    press(page, "ArrowLeft")
    expect(said).to_have_text("g4")
    press(page, "n")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Start")
    press(page, "Enter")
    expect(page.locator(".list .move")).to_have_count(0)


def test_moves_are_spoken_in_words(visit: Any) -> None:
    game = "e2e4,e7e5,g1f3,b8c6,f1b5,a7a6,b5c6,d7c6,e1g1"
    page = visit.open(f"#moves={game}")
    expect(page.locator(".list .move")).to_have_count(9)
    said = page.get_by_role("status")
    words = ["d takes c6", "bishop takes c6", "a6", "bishop b5", "knight c6", "knight f3"]
    for each in words:
        press(page, "ArrowLeft")
        expect(said).to_have_text(each)
    press(page, *["ArrowRight"] * len(words))
    expect(said).to_have_text("castles kingside")


def test_a_promotion_is_spoken_in_words(visit: Any) -> None:
    page = visit.open("#fen=1n5k%2FP7%2F8%2F8%2F8%2F8%2F8%2FK7+w+-+-+0+1&moves=a7b8q")
    expect(page.locator(".list .move")).to_have_count(1)
    press(page, "ArrowLeft", "ArrowRight")
    expect(page.get_by_role("status")).to_have_text("a takes b8 becomes a queen, check")


def test_keys_of_the_page(visit: Any) -> None:
    page = visit.open()
    visit.square("a1").focus()
    press(page, *["ArrowRight"] * 4, "ArrowUp", "Enter", "ArrowUp", "ArrowUp", "Enter")
    expect(page.locator(".list .move")).to_have_count(2)
    press(page, "f")  # the board is turned; the focus stays on it
    expect(page.locator("#board")).to_have_attribute("orientation", "black")
    press(page, "u")
    expect(page.locator(".list .move")).to_have_count(0)
    press(page, "n")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("width", [360, 390, 820])
def test_the_page_fits_its_screen(browser: Browser, phone: Any, width: int) -> None:
    page = phone.page
    page.set_viewport_size({"width": width, "height": 844})
    phone.open()
    phone.square("e2").tap()
    phone.square("e4").tap()
    expect(page.locator(".list .move")).to_have_count(2)
    for mode in ("Play", "Compare", "Puzzles"):
        page.get_by_label("Modes").get_by_role("button", name=mode).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, mode


def test_on_a_phone_the_moves_stand_right_under_the_board(phone: Any) -> None:
    page = phone.open()
    phone.type("e4", 2)
    boxes = {name: page.locator(name).bounding_box() for name in (".table", ".moves", ".controls", ".thought-card")}
    tops = [box["y"] for box in boxes.values() if box]
    assert tops == sorted(tops)
    table, moves = boxes[".table"], boxes[".moves"]
    assert table is not None
    assert moves is not None
    assert moves["y"] - (table["y"] + table["height"]) < 40


def test_a_phone_shows_no_keys_and_choices_in_even_rows(phone: Any, visit: Any) -> None:
    page = phone.open()
    expect(page.locator("footer")).to_contain_text("licences")
    expect(page.locator(".keys")).to_be_hidden()
    expect(visit.open().locator(".keys")).to_be_visible()  # at a desktop
    page.get_by_role("button", name="New game").click()
    labels = page.get_by_role("dialog").locator(".sides label")
    expect(labels).to_have_count(4)
    tops = [labels.nth(number).bounding_box()["y"] for number in range(4)]
    assert tops[0] == tops[1] < tops[2] == tops[3]


def findings(page: Page, rules: dict[str, Any]) -> list[tuple[str, list[str]]]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; run `npm ci` in web/")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    # The small boards are pictures to a screen reader (role img); their squares are left out to save time.
    found = page.evaluate("rules => axe.run({exclude: ['.mini']}, rules)", rules)["violations"]
    return [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found]


def test_axe_finds_nothing_in_a_game(visit: Any) -> None:
    page = visit.open()
    visit.new_game("Dreamer", clock="5 minutes")
    visit.type("e4", 2)
    page.get_by_role("button", name="Show it now").click()
    assert findings(page, {}) == []
    for name in ("New game", "Settings", "Resign", "Share or copy", "Paste FEN or PGN"):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert findings(page, {}) == [], name
        page.keyboard.press("Escape")


def test_axe_finds_nothing_at_the_end(visit: Any) -> None:
    page = visit.open()
    visit.lose()
    assert findings(page, {}) == []
    page.get_by_label("Result", exact=True).get_by_role("button", name="Review").click()
    expect(page.get_by_label("Review", exact=True)).to_have_attribute("aria-busy", "false")
    page.get_by_label("Largest mistakes").get_by_role("button").first.click()
    assert findings(page, {}) == []


def test_axe_finds_nothing_in_the_dark(visit: Any) -> None:
    page = visit.open()
    page.emulate_media(color_scheme="dark")
    visit.lose()
    colours = {"runOnly": ["color-contrast"]}
    assert findings(page, colours) == []
    page.get_by_label("Result", exact=True).get_by_role("button", name="Review").click()
    expect(page.get_by_label("Review", exact=True)).to_have_attribute("aria-busy", "false")
    assert findings(page, colours) == []
    for mode in ("Compare", "Puzzles"):
        page.get_by_label("Modes").get_by_role("button", name=mode).click()
        expect(page.locator("g-chess-board .mark, #puzzle").first).to_be_attached()
        assert findings(page, {}) == [], mode


@pytest.mark.parametrize(("by", "caption"), [("search", "Searched moves"), ("drafts", "Drafted moves")])
def test_axe_finds_nothing_in_a_look_ahead(visit: Any, by: str, caption: str) -> None:
    line = [{"uci": "e7e5", "san": "e5"}, {"uci": "g1f3", "san": "Nf3"}]
    row = {"uci": "e7e5", "san": "e5", "prior": 0.5, "value": 0.5, "score": 0.5, "line": line}
    report = {"by": by, "candidates": [row | {"probability": 0.5 if by == "drafts" else None}]}
    visit.change("think", lambda thought: thought | {"look_ahead": report, "film": []})
    page = visit.open()
    visit.type("e4", 2)
    expect(page.get_by_role("table", name=caption)).to_be_visible()
    assert findings(page, {}) == []
    page.get_by_role("button", name="Show it now").click()
    expect(page.get_by_role("table", name=caption)).to_contain_text("Nf3")
    assert findings(page, {}) == []


def test_licences_are_a_click_away(visit: Any) -> None:
    page = visit.open()
    href = page.get_by_role("link", name="licences").get_attribute("href")
    assert "Colin M.L. Burnett" in page.request.get(f"{visit.address}/{href}").text()
