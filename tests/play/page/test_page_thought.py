"""What the agent expects, on the page: film, searched tree, drafted moves, what it expects of the player, figures."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_recorded_film(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    panel.get_by_role("button", name="Show it now").click()
    expect(panel.locator(".candidates li.chosen")).to_contain_text("e5")
    expect(panel.locator(".candidates li")).to_have_count(6)
    expect(panel.locator(".strip li")).to_have_count(4)
    expect(panel.locator(".strip .mark.wrong")).to_have_count(1)
    expect(panel).to_contain_text("1 square wrong")
    # The first imagined move is on the board already; the rest are arrows with their numbers.
    expect(page.locator(".overlay text")).to_have_text(["2", "3", "4"])
    slider = panel.get_by_label(re.compile("Denoising step"))
    slider.fill("0")
    expect(panel.locator(".mark.masked")).to_have_count(4 * 64)
    expect(page.locator(".overlay text")).to_have_count(0)
    expect(panel.locator(".strip .ply .san")).to_have_text(["?"] * 4)
    slider.fill("4")
    expect(panel.locator(".mark.masked")).to_have_count(4 * 32)
    expect(panel.locator(".mark.fresh")).to_have_count(4 * 8)
    expect(panel.locator(".strip .ply .san").nth(2)).to_have_text("?")
    expect(page.locator(".overlay text")).to_have_text(["2"])
    slider.press("End")
    expect(panel.locator(".mark.masked")).to_have_count(0)
    expect(panel.locator(".strip .mark.wrong")).to_have_count(1)
    panel.get_by_role("button", name="Play the film").click()
    expect(panel.get_by_role("button", name="Stop the film")).to_be_visible()
    expect(panel.get_by_role("button", name="Play the film")).to_be_visible()  # it stops by itself


def test_the_film_shows_confidence_and_the_changing_distribution(visit: Any) -> None:
    def record(thought: Any) -> Any:
        for frame in thought["film"]:
            sure = frame["step"] / 8
            frame["confidence"] = [[sure] * 64 for _ in frame["squares"]]
            frame["moves"][0] = "e7e5" if frame["step"] >= 6 else None
            shares = {"g8f6": 1 - sure, "e7e5": sure}
            frame["candidates"] = [
                {"uci": uci, "san": san, "probability": shares[uci]} for uci, san in (("g8f6", "Nf6"), ("e7e5", "e5"))
            ]
        thought["film"][0]["candidates"] = []
        return thought

    visit.change("think", record)
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    slider = panel.get_by_label(re.compile("Denoising step"))
    slider.fill("2")
    expect(panel.locator(".candidates .share")).to_have_text(["75 %", "25 %"])
    expect(panel.locator(".mark.masked").first).to_have_attribute("style", "--sure:0.25")
    expect(panel.locator(".verdict").first).to_have_text("48 masked, 25 % sure")
    slider.fill("6")
    expect(panel.locator(".candidates .share")).to_have_text(["25 %", "75 %"])
    slider.fill("7")  # the move is fixed: the distribution stays what it was
    expect(panel.locator(".candidates .share")).to_have_text(["25 %", "75 %"])
    slider.fill("0")
    expect(panel.locator(".candidates .share").first).to_have_text("–")  # noqa: RUF001
    slider.press("End")
    expect(panel.locator(".candidates li")).to_have_count(6)  # what came of it


def test_nothing_is_shown_that_was_not_denoised(visit: Any) -> None:
    page = visit.open()
    visit.new_game("Quiet")
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    expect(panel.locator(".headline")).to_contain_text("a5")
    expect(panel.locator(".film")).to_have_count(0)
    expect(panel.locator(".headline")).not_to_contain_text("win chance")  # it has no value


def test_a_game_that_ends_in_the_line_has_no_boards_behind_it(visit: Any) -> None:
    page = visit.open()
    visit.lose()  # the dreamer's line ends with the mate
    panel = page.locator(".thought-card")
    expect(panel.locator(".strip li")).to_have_count(1)
    expect(panel.locator(".strip .mini")).to_have_count(1)
    panel.get_by_label(re.compile("Denoising step")).fill("0")
    expect(panel.locator(".mark.masked")).to_have_count(64)
    expect(panel.locator(".strip li")).to_have_count(1)


def test_moves_without_a_board_are_words(visit: Any) -> None:
    def shorten(thought: Any) -> Any:
        thought["line"][-1]["squares"] = None
        for frame in thought["film"]:
            frame["squares"] = frame["squares"][:-1]
        return thought

    visit.change("think", shorten)
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    panel.get_by_role("button", name="Show it now").click()
    expect(panel.locator(".strip li")).to_have_count(3)
    expect(panel.locator(".rest")).to_have_text(re.compile("then exd4|then d5|then [a-zA-Z]"))
    panel.get_by_label(re.compile("Denoising step")).fill("0")
    expect(panel.locator(".rest")).to_have_text("then ?")


TREE = {
    "by": "search",
    "candidates": [
        {"uci": "e7e5", "san": "e5", "prior": 0.31, "value": 0.47, "score": 0.52, "probability": None,
         "line": [{"uci": "e7e5", "san": "e5"}, {"uci": "g1f3", "san": "Nf3"}, {"uci": "b8c6", "san": "Nc6"}]},
        {"uci": "c7c5", "san": "c5", "prior": 0.44, "value": 0.5, "score": 0.49, "probability": None,
         "line": [{"uci": "c7c5", "san": "c5"}, {"uci": "d2d4", "san": "d4"}]},
        {"uci": "a7a6", "san": "a6", "prior": 0.001, "value": None, "score": None, "probability": None,
         "line": [{"uci": "a7a6", "san": "a6"}]},
    ]
}  # fmt: skip


def test_the_searched_tree(visit: Any) -> None:
    visit.change("think", lambda thought: thought | {"look_ahead": TREE, "film": [], "steps": 3, "evaluations": 67})
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    rows = panel.get_by_role("table", name="Searched moves").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(panel.locator(".film")).to_have_count(0)
    expect(rows.nth(0)).to_have_class(re.compile("chosen"))
    expect(rows.nth(0).locator("td")).to_have_text(["31 %", "47 %", "52 %"])
    expect(rows.nth(2).locator("td").nth(0)).to_have_text("< 1 %")
    expect(rows.nth(2).locator("td").nth(1)).to_have_text("–")  # noqa: RUF001
    expect(panel.locator(".tree .line")).to_have_count(0)  # no empty column: a line says what the player is to do
    expect(panel.locator(".figures")).to_contain_text("3 network calls · 67 evaluations")
    page.keyboard.press("Escape")
    panel.get_by_role("button", name="Show it now").click()
    expect(rows.nth(0).locator(".line")).to_have_text("Nf3 Nc6")
    expect(rows.nth(1).locator(".line")).to_have_text("d4")
    panel.get_by_role("button", name="e5", exact=True).click()
    expect(page.locator(".overlay text")).to_have_text(["2", "3"])
    # From the position before, the other move's line can be seen on the board.
    page.get_by_role("button", name="One back").click()
    panel.get_by_role("button", name="c5", exact=True).click()
    expect(page.locator(".overlay text")).to_have_text(["1", "2"])
    expect(panel.locator(".strip")).to_have_count(0)  # the boards belong to the chosen move's line


def drafted(uci: str, san: str, before: float, after: float, *line: tuple[str, str]) -> dict[str, Any]:
    steps = [{"uci": each, "san": name} for each, name in ((uci, san), *line)]
    return {"uci": uci, "san": san, "prior": before, "value": 0.47, "score": 0.52, "probability": after, "line": steps}


REPLY = (("g1f3", "Nf3"), ("b8c6", "Nc6"))
DRAFTS = {
    "by": "drafts",
    "candidates": [
        drafted("e7e5", "e5", 0.31, 0.62, *REPLY),
        drafted("c7c5", "c5", 0.44, 0.21, ("d2d4", "d4")),
        drafted("a7a6", "a6", 0.02, 0.001),
    ],
}


def test_drafted_moves(visit: Any) -> None:
    visit.change("think", lambda thought: thought | {"look_ahead": DRAFTS, "film": [], "steps": 11, "evaluations": 41})
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    table = panel.get_by_role("table", name="Drafted moves")
    rows = table.locator("tbody tr")
    expect(panel.locator(".change")).to_have_text("At the first look c5; after the drafts e5.")
    expect(rows.locator("th")).to_have_text(["e5", "c5", "a6"])
    expect(rows.nth(0)).to_have_class(re.compile("chosen"))
    expect(rows.nth(0).locator("td")).to_have_text(["31 %", "62 %", "47 %", "52 %"])
    expect(rows.nth(2).locator("td").nth(1)).to_have_text("< 1 %")
    expect(panel.locator(".figures")).to_contain_text("11 network calls · 41 evaluations")
    # A draft says what the player is to do: neither column nor arrows before the player has moved.
    expect(panel).to_contain_text("hidden until you have moved")
    expect(table.get_by_role("columnheader", name="Draft")).to_have_count(0)
    expect(table).not_to_contain_text("Nf3")
    panel.get_by_role("button", name="e5", exact=True).click()
    expect(page.locator(".overlay text")).to_have_count(0)
    panel.get_by_role("button", name="Show it now").click()
    expect(table.get_by_role("columnheader", name="Draft")).to_be_visible()
    expect(rows.locator(".line")).to_have_text(["Nf3 Nc6", "d4", ""])
    expect(page.locator(".overlay text")).to_have_text(["2", "3"])
    page.get_by_role("button", name="One back").click()
    panel.get_by_role("button", name="c5", exact=True).click()
    expect(page.locator(".overlay text")).to_have_text(["1", "2"])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [drafted("e7e5", "e5", 0.5, 0.4), drafted("c7c5", "c5", 0.3, 0.1)],
            "The first look and the drafts agree on e5.",
        ),
        (
            [drafted("c7c5", "c5", 0.5, 0.6), drafted("e7e5", "e5", 0.3, 0.2)],
            "The first look and the drafts agree on c5. Its strength drew e5.",
        ),
        (
            [drafted("e7e5", "e5", 0.5, 0.1), drafted("c7c5", "c5", 0.3, 0.1)],
            "At the first look e5; after the drafts h6. Its strength drew e5.",
        ),
    ],
)
def test_what_drafts_changed_in_words(visit: Any, rows: list[dict[str, Any]], words: str) -> None:
    report = {"by": "drafts", "candidates": rows}
    after = [{name: row[name] for name in ("uci", "san", "probability")} for row in rows]
    after += [{"uci": "h7h6", "san": "h6", "probability": 0.15}]  # was not drafted
    after.sort(key=lambda one: -one["probability"])
    visit.change("think", lambda thought: thought | {"look_ahead": report, "candidates": after, "film": []})
    page = visit.open()
    visit.type("e4", 2)
    expect(page.locator(".thought-card .change")).to_have_text(words)
    page.get_by_role("button", name="Show it now").click()
    expect(page.get_by_role("columnheader", name="Draft")).to_have_count(0)  # one ply deep: no line to show


def test_what_it_expects_is_hidden_until_the_player_has_moved(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    panel = page.locator(".thought-card")
    expect(panel).to_contain_text("hidden until you have moved")
    expect(panel.locator(".strip li")).to_have_count(1)
    expect(page.locator(".overlay text")).to_have_count(0)
    panel.get_by_label(re.compile("Denoising step")).fill("8")
    expect(panel.locator(".strip li")).to_have_count(1)  # in the film, too
    visit.type("d4", 4)  # what the dreamer dreams of
    expect(page.locator(".expected")).to_contain_text("You played d4, as it expected")
    visit.type("a3", 6)
    expect(page.locator(".expected")).to_contain_text("You played a3; it expected")
    expect(page.locator(".expected")).to_contain_text("1 of 2 expected")
    page.get_by_role("button", name="One back").click()
    page.get_by_role("button", name="One back").click()
    expect(panel.locator(".strip li")).to_have_count(4)  # the player has moved since
    page.get_by_role("button", name="Last position").click()
    expect(panel.locator(".strip li")).to_have_count(1)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Show what it expects of me").check()
    page.get_by_role("button", name="Done").click()
    expect(panel.locator(".strip li")).to_have_count(4)


def test_values_are_win_chances(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    expect(page.locator(".headline")).to_have_text(re.compile(r"e5\s+62 % win chance"))
    expect(page.locator(".figures")).to_contain_text("8 evaluations")
    expect(page.locator(".figures")).to_contain_text("97 % of the probability on legal moves")


def test_imagine_here_waits_for_the_first_position_and_the_agents(visit: Any) -> None:
    position, agents = visit.hold("position"), visit.hold("agents")
    page = visit.open()
    imagine = page.get_by_role("button", name="Imagine here")
    expect(imagine).to_be_disabled()
    agents.release()
    expect(page.locator(".player").first).to_contain_text("Dreamer")
    expect(imagine).to_be_disabled()
    position.release()
    imagine.click()
    expect(page.locator(".headline")).to_contain_text("e4")


def test_imagine_here_shows_the_players_own_position(visit: Any) -> None:
    page = visit.open()
    page.get_by_role("button", name="Imagine here").click()
    expect(page.locator(".headline")).to_contain_text("e4")
    expect(page.locator(".overlay text")).to_have_text(["1", "2", "3", "4"])
    expect(page.locator(".list .move")).to_have_count(0)
