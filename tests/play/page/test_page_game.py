"""Playing on the page in real Chromium: moves by mouse and keys, promotion, castling, taking back, new games."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_game_to_the_end_with_the_mouse(visit: Any) -> None:
    page = visit.open()
    visit.drag("f2", "f3")
    expect(page.locator(".list .move")).to_have_count(2)
    assert visit.moves() == ["f3", "e5"]
    visit.square("g2").click()
    visit.square("g4").click()
    expect(page.locator(".result")).to_contain_text("0-1")
    expect(page.locator(".result")).to_contain_text("checkmate")
    assert visit.moves()[-1] == "Qh4#"
    expect(page.locator("#board .mark.check")).to_have_attribute("slot", "e1")
    expect(page.get_by_role("button", name="Resign")).to_be_disabled()
    # Nobody can move any more.
    page.get_by_label("Close the result").click()
    visit.drag("a2", "a3")
    assert len(visit.moves()) == 4


def test_an_illegal_move_goes_back(visit: Any) -> None:
    page = visit.open()
    visit.drag("e2", "e5")
    assert visit.moves() == []
    expect(visit.square("e2")).to_have_attribute("aria-label", "e2, white pawn")
    page.get_by_label("Type a move").fill("Ke4")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Ke4 is not a legal move")


def test_promotion_is_asked_for(visit: Any) -> None:
    page = visit.open("#fen=8%2FP6k%2F8%2F8%2F8%2F8%2F7K%2F8+w+-+-+0+1")
    visit.drag("a7", "a8")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Promote to")
    page.keyboard.press("Escape")
    expect(visit.square("a7")).to_have_attribute("aria-label", "a7, white pawn")
    visit.drag("a7", "a8")
    dialog.get_by_role("button", name="Knight").click()
    expect(page.locator(".list .move").first).to_have_text("a8=N")
    expect(visit.square("a8")).to_have_attribute("aria-label", "a8, white knight")


def test_castling_moves_the_rook_too(visit: Any) -> None:
    page = visit.open("#fen=4k3%2F8%2F8%2F8%2F8%2F8%2F8%2F4K2R+w+K+-+0+1")
    visit.drag("e1", "g1")
    expect(page.locator(".list .move").first).to_have_text("O-O")
    expect(visit.square("f1")).to_have_attribute("aria-label", "f1, white rook")


def test_take_back_and_browse(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    visit.type("Nf3", 4)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".list .move")).to_have_count(2)
    expect(visit.square("g1")).to_have_attribute("aria-label", "g1, white knight")
    page.get_by_role("button", name="First position").click()
    expect(visit.square("e2")).to_have_attribute("aria-label", "e2, white pawn")
    page.get_by_role("button", name="Last position").click()
    expect(visit.square("e4")).to_have_attribute("aria-label", "e4, white pawn")


def test_new_game_as_black_at_another_strength(visit: Any) -> None:
    page = visit.open()
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Black").check()
    expect(dialog).to_contain_text("8 steps")  # the agents have come
    dialog.get_by_label("Strength").fill("0")
    expect(dialog).to_contain_text("2 steps")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".list .move")).to_have_count(1)  # the agent has opened
    expect(page.locator("#board")).to_have_attribute("orientation", "black")
    expect(page.locator(".player").first).to_contain_text("Dreamer")
    expect(page.locator(".player").first).to_contain_text("2 steps")


def test_a_dialog_that_is_older_than_the_list_of_agents_offers_them(visit: Any) -> None:
    agents = visit.hold("agents")
    page = visit.open()
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Strength")).to_have_count(0)
    agents.release()
    expect(dialog).to_contain_text("8 steps")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".player").first).to_contain_text("Dreamer")


@pytest.mark.parametrize(("drawn", "count"), [(0.2, 0), (0.8, 1)])
def test_a_random_colour(visit: Any, drawn: float, count: int) -> None:
    page = visit.open()
    page.evaluate("value => { Math.random = () => value }", drawn)
    visit.new_game("Dreamer", side="Random")
    expect(page.locator("#board")).to_have_attribute("orientation", "black" if count else "white")
    expect(page.locator(".list .move")).to_have_count(count)


def test_a_premove_is_played_when_the_agent_has_moved(visit: Any, waiter: Any) -> None:
    page = visit.open()
    visit.new_game("Waiter")
    page.get_by_label("Type a move").fill("e4")
    page.keyboard.press("Enter")
    expect(page.locator(".list .move")).to_have_count(1)
    expect(page.locator(".thought-card")).to_have_attribute("aria-busy", "true")  # the agent thinks
    visit.premove("g1", "f3")
    expect(page.locator("#board .mark.premove")).to_have_count(2)
    expect(visit.square("g1")).to_have_attribute("aria-label", "g1, white knight")  # not yet
    waiter.gate.set()
    expect(page.locator(".list .move")).to_have_count(4)
    assert visit.moves()[:3] == ["e4", "e5", "Nf3"]
    expect(page.locator("#board .mark.premove")).to_have_count(0)


def test_a_premove_is_cancelled_or_dropped_when_it_is_not_legal(visit: Any, waiter: Any) -> None:
    page = visit.open()
    visit.new_game("Waiter")
    page.get_by_label("Type a move").fill("e4")
    page.keyboard.press("Enter")
    expect(page.locator(".list .move")).to_have_count(1)
    expect(page.locator(".thought-card")).to_have_attribute("aria-busy", "true")  # the agent thinks
    visit.premove("g1", "f3")
    expect(page.get_by_role("button", name="Cancel premove g1 to f3")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("Escape")
    expect(page.locator("#board .mark.premove")).to_have_count(0)
    visit.premove("e4", "e5")  # the agent's own pawn will stand there
    expect(page.locator("#board .mark.premove")).to_have_count(2)
    waiter.gate.set()
    expect(page.locator(".list .move")).to_have_count(2)
    expect(page.locator("#board .mark.premove")).to_have_count(0)
    assert visit.moves() == ["e4", "e5"]


def test_captured_material(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    visit.type("Nf3", 4)
    visit.type("Nxe5", 6)
    own = page.locator(".player").last
    expect(own.locator(".captured")).to_contain_text("♟")
    expect(own).to_contain_text("+1")
    expect(own.locator(".hidden")).to_have_text("captured: 1 pawn, 1 ahead")
    page.get_by_role("button", name="First position").click()
    expect(page.locator(".captured")).to_have_count(0)


def test_the_opening_has_its_name(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    expect(page.locator(".opening")).to_have_text("King's Pawn Game")
    visit.type("Nf3", 4)
    expect(page.locator(".opening")).to_contain_text("King's Knight Opening")
    page.get_by_role("button", name="One back").click()
    expect(page.locator(".opening")).to_contain_text("King's Knight Opening")
    page.get_by_role("button", name="First position").click()
    expect(page.locator(".opening")).to_have_count(0)


def test_moves_stand_in_two_columns(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    visit.type("Nf3", 4)
    boxes = [each.bounding_box() for each in page.locator(".list .move").all()]
    (first, answer, second, _) = [(round(box["x"]), round(box["y"])) for box in boxes if box]
    assert first[0] == second[0]
    assert first[1] == answer[1] < second[1]
    expect(page.locator(".list li")).to_have_count(2)


def test_a_game_that_black_begins_has_a_gap(visit: Any) -> None:
    page = visit.open("#fen=4k3%2F8%2F8%2F8%2F8%2F8%2F8%2F4K2R+b+K+-+0+7&moves=e8e7,e1e2")
    expect(page.locator(".list li").first).to_have_text(re.compile(r"7\.\s*…\s*Ke7"))
    expect(page.locator(".list li").last).to_have_text(re.compile(r"8\.\s*Ke2"))


def test_own_arrows_with_the_right_button(visit: Any) -> None:
    page = visit.open()
    visit.drag("g1", "f3", button="right")
    expect(page.locator(".overlay g.drawn")).to_have_count(1)
    visit.drag("e4", "e4", button="right")
    expect(page.locator(".overlay circle.drawn")).to_have_count(1)
    visit.drag("g1", "f3", button="right")  # once more takes it away
    expect(page.locator(".overlay g.drawn")).to_have_count(0)
    visit.drag("h5", "h5", piece=False)
    expect(page.locator(".overlay .drawn")).to_have_count(0)
    visit.drag("d2", "d4", button="right")
    expect(page.locator(".overlay g.drawn")).to_have_count(1)
    visit.type("e4", 2)
    expect(page.locator(".overlay .drawn")).to_have_count(0)


def test_the_evaluation_bar_follows_the_agent(visit: Any) -> None:
    page = visit.open()
    bar = page.get_by_role("meter", name="Win chance")
    expect(bar).to_have_attribute("aria-valuetext", "not judged yet")
    visit.type("e4", 2)  # the dreamer, Black, always has 62 %
    expect(bar).to_have_attribute("aria-valuetext", "White 38 %, Black 62 %")
    expect(bar).to_have_attribute("aria-valuenow", "38")
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".list .move")).to_have_count(0)
    expect(bar).to_have_attribute("aria-valuetext", "not judged yet")
    visit.lose()
    expect(bar).to_have_attribute("aria-valuetext", "White 0 %, Black 100 %")
