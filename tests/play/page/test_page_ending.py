"""The end of a game on the page: the banner, rematch, resigning, draws, the clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def in_view(page: Page, selector: str) -> bool:
    """Whether the whole element is on the screen."""
    return bool(
        page.locator(selector).evaluate(
            "e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.left >= 0 && "
            "b.bottom <= innerHeight && b.right <= innerWidth }"
        )
    )


def test_the_banner_says_how_it_ended_and_offers_a_rematch(visit: Any) -> None:
    page = visit.open()
    visit.lose()
    banner = page.get_by_label("Result", exact=True)
    expect(banner).to_contain_text("You lose")
    expect(banner).to_contain_text("checkmate")
    page.get_by_role("button", name="One back").click()
    expect(banner).to_be_hidden()  # not over an earlier position
    page.get_by_role("button", name="Last position").click()
    banner.get_by_role("button", name="Rematch").click()
    expect(page.locator("#board")).to_have_attribute("orientation", "black")
    expect(page.locator(".list .move")).to_have_count(1)
    expect(banner).to_be_hidden()


def test_on_a_phone_the_banner_comes_into_view(phone: Any) -> None:
    page = phone.open()
    phone.type("f3", 2)
    page.get_by_label("Type a move").scroll_into_view_if_needed()
    phone.type("g4", 4)
    expect(page.get_by_label("Result", exact=True)).to_be_visible()
    assert in_view(page, ".ending")


def test_a_whole_game_on_a_phone_from_first_load_to_review(phone: Any) -> None:
    page = phone.open()
    for number, (source, target) in enumerate([("f2", "f3"), ("g2", "g4")], start=1):
        phone.square(source).tap()
        phone.square(target).tap()
        expect(page.locator(".list .move")).to_have_count(2 * number)
    banner = page.get_by_label("Result", exact=True)
    expect(banner).to_contain_text("You lose")
    assert in_view(page, ".ending")
    banner.get_by_role("button", name="Review").tap()
    review = page.get_by_label("Review", exact=True)
    expect(review).to_have_attribute("aria-busy", "false")
    review.get_by_label("Largest mistakes").get_by_role("button").last.tap()
    expect(phone.square("g2")).to_have_attribute("aria-label", "g2, white pawn")
    assert in_view(page, "#board")  # what the mistake is about can be seen
    page.get_by_role("button", name="New game").tap()
    page.get_by_role("dialog").get_by_role("button", name="Start").tap()
    expect(page.locator(".list .move")).to_have_count(0)


def test_resigning_asks_first(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    page.get_by_role("button", name="Resign").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Resign this game?")
    dialog.get_by_role("button", name="Play on").click()
    visit.type("d4", 4)
    page.get_by_role("button", name="Resign").click()
    dialog.get_by_role("button", name="Resign").click()
    expect(page.get_by_label("Result", exact=True)).to_contain_text("White resigned")
    expect(page.get_by_label("Result", exact=True)).to_contain_text("0-1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PGN").click()
    assert '[Result "0-1"]' in Path(download.value.path()).read_text()
    page.reload()
    expect(page.locator(".result")).to_contain_text("White resigned")


def test_a_draw_offer_goes_with_the_next_move_and_is_declined(visit: Any) -> None:
    page = visit.open()
    expect(page.get_by_role("button", name="Offer draw")).to_be_disabled()
    visit.type("e4", 2)
    page.get_by_role("button", name="Offer draw").click()
    expect(page.locator(".offer")).to_contain_text("goes with your next move")
    with page.expect_request("**/api/think") as asked:
        visit.type("d4", 4)  # the dreamer is at 62 %
    assert asked.value.post_data_json["draw_offered"] is True
    expect(page.locator(".offer")).to_have_text("Dreamer declines the draw.")
    with page.expect_request("**/api/think") as asked:
        visit.type("a3", 6)
    assert "draw_offered" not in asked.value.post_data_json
    expect(page.locator(".offer")).to_have_count(0)


def test_an_accepted_draw_ends_the_game(visit: Any) -> None:
    def agree(thought: Any) -> Any:
        return thought | {"draw_accepted": True if thought["draw_accepted"] is not None else None}

    visit.change("think", agree)
    page = visit.open()
    visit.type("e4", 2)
    page.get_by_role("button", name="Offer draw").click()
    visit.type("d4", 3)
    expect(page.get_by_label("Result", exact=True)).to_contain_text("Draw ½-½")
    expect(page.get_by_label("Result", exact=True)).to_contain_text("draw by agreement")
    assert visit.moves() == ["e4", "e5", "d4"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PGN").click()
    assert '[Result "1/2-1/2"]' in Path(download.value.path()).read_text()


def test_the_clock_runs_and_ends_the_game(visit: Any) -> None:
    page = visit.page
    page.clock.install()
    visit.open()
    visit.new_game("Dreamer", clock="1 minute + 1 second a move")
    own, other = page.get_by_label("White's clock"), page.get_by_label("Black's clock")
    expect(own).to_have_text("1:00")
    page.clock.fast_forward(5000)
    expect(own).to_have_text("1:00")  # it starts with the first move
    visit.type("e4", 2)
    expect(other).to_have_text("1:01")  # the increment
    page.clock.run_for(10_000)
    expect(own).to_have_text("0:50")
    visit.type("d4", 4)
    expect(own).to_have_text("0:51")
    page.clock.run_for(52_000)
    expect(page.get_by_label("Result", exact=True)).to_contain_text("White ran out of time")
    expect(page.get_by_label("Result", exact=True)).to_contain_text("You lose")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PGN").click()
    assert '[Result "0-1"]' in Path(download.value.path()).read_text()
