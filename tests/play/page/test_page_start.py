"""The first load, coming back, links, pastes: who can be played is seen at once, and no move is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

pytestmark = pytest.mark.browser


def test_while_the_network_is_loaded_the_first_move_waits(visit: Any) -> None:
    page = visit.page
    loading = [True]

    def states(cards: Any) -> Any:
        return [card | {"state": "loading"} if loading[0] and card["id"] == "dreamer" else card for card in cards]

    visit.change("agents", states)
    thought = visit.hold("think")  # the server answers when the network is there
    visit.open()
    opponent = page.locator(".player").first
    expect(opponent).to_contain_text("Dreamer")
    expect(opponent).to_contain_text("loading the network")
    expect(page.locator(".thought-card")).to_contain_text("You can move already")
    page.get_by_role("button", name="New game").click()
    expect(page.get_by_role("dialog").locator("option", has_text="Dreamer (loading)")).to_be_attached()
    page.keyboard.press("Escape")
    visit.type("e4", 1)
    expect(opponent).to_contain_text("loading the network")
    loading[0] = False
    expect(opponent).to_contain_text("thinking")
    thought.release()
    expect(page.locator(".list .move")).to_have_count(2)


def test_a_move_before_the_first_position_is_there_is_queued(visit: Any) -> None:
    page = visit.page
    position = visit.hold("position")
    page.goto(visit.address)
    expect(page.locator("#board .has-piece")).to_have_count(32)
    visit.drag("e2", "e4")
    expect(page.locator("#board .mark.premove")).to_have_count(2)
    position.release()
    expect(page.locator(".list .move")).to_have_count(2)
    assert visit.moves() == ["e4", "e5"]


def test_a_move_typed_before_the_first_position_is_there_is_queued(visit: Any) -> None:
    page = visit.page
    position = visit.hold("position")
    page.goto(visit.address)
    page.get_by_label("Type a move").fill("Nf3")
    page.keyboard.press("Enter")
    position.release()
    expect(page.locator(".list .move")).to_have_count(2)
    assert visit.moves()[0] == "Nf3"
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_busy_server_is_asked_again(visit: Any) -> None:
    page = visit.open()
    refused: list[str] = []

    def busy(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=503, headers={"retry-after": "1"}, json={"detail": "Busy."})

    page.route("**/api/think", busy)
    visit.type("e4", 2)
    assert len(refused) == 1
    expect(page.get_by_role("alert")).to_have_count(0)
    visit.faults.clear()  # Chromium reports the 503 itself


def test_measured_ratings_stand_beside_the_name(visit: Any) -> None:
    def rate(cards: Any) -> Any:
        cards[0]["levels"][1]["rating"] = {"elo": 1640, "low": 1590, "high": 1690}
        cards[0]["levels"][0]["rating"] = {"elo": -200, "low": -800, "high": 70}
        return cards

    visit.change("agents", rate)
    page = visit.open()
    expect(page.locator(".player").first).to_contain_text("rating 1640")
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".level")).to_contain_text("rating 1640")
    expect(dialog.locator(".level")).to_contain_text("8 steps")
    dialog.get_by_label("Strength").fill("0")
    expect(dialog.locator(".level")).to_have_text("rating below 400, 2 steps")
    dialog.get_by_label("Agent").select_option(label="Quiet")  # one level, not measured
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".player").first).to_contain_text("only level")


def test_who_turns_out_to_be_unable_is_replaced(visit: Any) -> None:
    page = visit.page
    states = ["loading", "loading", "problem"]

    def change(cards: Any) -> Any:
        state = states.pop(0) if len(states) > 1 else states[0]
        return [
            card | {"state": state, "problem": "No weights."} if card["id"] == "dreamer" else card for card in cards
        ]

    visit.change("agents", change)
    visit.open()
    expect(page.locator(".player").first).to_contain_text("Dreamer")
    expect(page.locator(".player").first).to_contain_text("Quiet")
    visit.type("e4", 2)


def test_an_agent_that_cannot_play_says_why(visit: Any) -> None:
    page = visit.open()
    page.get_by_role("button", name="New game").click()
    expect(page.get_by_role("dialog").locator("option", has_text="Absent (not here)")).to_be_disabled()


def test_paste_refuses_bad_fens_and_takes_good_games(visit: Any) -> None:
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
    assert visit.moves() == ["e4", "c5", "Nf3"]
    expect(page.locator(".player").last).to_contain_text("Ann")
    visit.faults.clear()  # Chromium reports the refused request (400) itself


def test_a_bad_link_is_explained(visit: Any) -> None:
    page = visit.open("#fen=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("not a FEN")
    expect(visit.square("e2")).to_have_attribute("aria-label", "e2, white pawn")
    visit.faults.clear()


def test_share_download_and_reload(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PGN").click()
    text = Path(download.value.path()).read_text()
    assert '[White "You"]' in text
    assert "1. e4 e5" in text
    page.reload()  # the game lives here, not on the server
    expect(page.locator(".list .move")).to_have_count(2)
    page.get_by_role("button", name="Share or copy").click()
    link = page.get_by_label("Link").input_value()
    assert link.endswith("#moves=e2e4%2Ce7e5")
    page.keyboard.press("Escape")
    other = visit.context.new_page()
    other.goto(link)
    expect(other.locator(".list .move")).to_have_count(2)
    other.get_by_label("Type a move").fill("Nf3")
    other.keyboard.press("Enter")
    expect(other.locator(".list .move")).to_have_count(4)
    other.reload()  # and goes on from there
    expect(other.locator(".list .move")).to_have_count(4)


def test_the_fen_is_copied(visit: Any) -> None:
    page = visit.open()
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.type("e4", 2)
    page.get_by_role("button", name="Share or copy").click()
    page.get_by_role("button", name="Copy FEN").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith(
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq"
    )


def test_a_move_right_after_the_start_of_a_new_game_is_not_lost(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    position = visit.hold("position")
    visit.new_game("Dreamer")
    page.get_by_label("Type a move").fill("Nf3")
    page.keyboard.press("Enter")
    position.release()
    expect(page.locator(".list .move").first).to_have_text("Nf3")
    expect(page.locator(".list .move")).to_have_count(2)


def test_who_goes_elsewhere_while_the_game_is_loaded_stays_there(visit: Any) -> None:
    """The first position comes late; the visitor has opened the puzzles before."""
    position = visit.hold("position")
    visit.page.goto(visit.address + "/")
    visit.page.get_by_role("button", name="Puzzles").click()
    expect(visit.page.get_by_label("Task")).to_contain_text("to move and win")
    with visit.page.expect_response("**/api/position"):
        position.release()
    expect(visit.page.get_by_label("Task")).to_contain_text("to move and win")
    visit.page.get_by_role("button", name="Play", exact=True).click()
    expect(visit.page.locator("#board .has-piece").first).to_be_visible()
