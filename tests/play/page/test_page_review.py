"""The review of a finished game on the page: the graph, the mistakes with what was better, going there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_review_of_a_lost_game(visit: Any) -> None:
    page = visit.open()
    visit.lose()
    page.get_by_label("Result", exact=True).get_by_role("button", name="Review").click()
    review = page.get_by_label("Review", exact=True)
    expect(review).to_have_attribute("aria-busy", "false")
    expect(page.get_by_label("Result", exact=True)).to_have_count(0)
    graph = review.get_by_role("img")
    expect(graph).to_have_attribute(
        "aria-label", re.compile(r"White's win chance: 62 % at first, 0 % after 4 half-moves")
    )
    points = graph.locator("polyline").get_attribute("points") or ""
    assert len(points.split()) == 5
    # The dreamer would have played its favourites instead of f3 and g4.
    mistakes = review.get_by_label("Largest mistakes").get_by_role("button")
    expect(mistakes).to_have_count(2)
    expect(mistakes.first).to_contain_text("1. f3")
    expect(mistakes.first).to_contain_text("better: e4")
    expect(mistakes.last).to_contain_text("2. g4")
    expect(page.locator(".list .move.mistake").first).to_have_text("f3")
    mistakes.last.click()  # the position before the mistake
    expect(visit.square("g2")).to_have_attribute("aria-label", "g2, white pawn")
    expect(visit.square("e5")).to_have_attribute("aria-label", "e5, black pawn")
    expect(review).to_contain_text("Next was g4; the agent prefers")
    expect(page.locator(".overlay text")).to_have_text(["1"])


def test_a_click_on_the_graph_goes_there(visit: Any) -> None:
    page = visit.open()
    visit.lose()
    page.get_by_label("Result", exact=True).get_by_role("button", name="Review").click()
    review = page.get_by_label("Review", exact=True)
    expect(review).to_have_attribute("aria-busy", "false")
    box = review.get_by_role("img").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".list .move.here")).to_have_text("e5")
    review.get_by_role("button", name="Close").click()
    expect(review).to_have_count(0)


def test_a_long_game_is_reviewed_in_slices_and_can_be_stopped(visit: Any) -> None:
    page = visit.open("#moves=" + ",".join(["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "b1c3", "b8c6", "e2e4"]))
    expect(page.locator(".list .move")).to_have_count(9)
    asked: list[tuple[int, int]] = []
    page.on(
        "request",
        lambda request: (
            asked.append((request.post_data_json["first"], request.post_data_json["count"]))
            if request.url.endswith("/api/review")
            else None
        ),
    )
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_label("Review", exact=True)).to_have_attribute("aria-busy", "false")
    assert asked == [(0, 6), (6, 3)]


def test_a_refused_review_says_why(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    page.route("**/api/review", lambda route: route.fulfill(status=400, json={"detail": "It has no values."}))
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("alert")).to_contain_text("It has no values.")
    expect(page.get_by_label("Review", exact=True).get_by_role("button", name="Go on")).to_be_visible()
    visit.faults.clear()  # Chromium reports the refused request (400) itself
