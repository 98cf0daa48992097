"""Comparing two agents on one position, and puzzles, on the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from diffusearch.play.puzzles import puzzles

pytestmark = pytest.mark.browser

PROMOTIONS = {"q": "Queen", "r": "Rook", "b": "Bishop", "n": "Knight"}


def test_compare_two_agents(visit: Any) -> None:
    page = visit.open()
    visit.type("e4", 2)
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("main").get_by_role("button", name="Compare").click()
    left, right = page.get_by_label("Left agent"), page.get_by_label("Right agent")
    expect(left.locator(".headline")).to_contain_text("d4")
    expect(right.locator(".headline")).to_contain_text("a3")
    expect(left.locator(".strip li")).to_have_count(4)
    expect(right.locator(".strip li")).to_have_count(1)
    expect(page.get_by_role("main")).to_contain_text("different moves")
    expect(left.locator("option", has_text="Absent")).to_be_disabled()


def test_puzzles_move_both_ratings(visit: Any) -> None:
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


def test_no_piece_of_a_puzzle_can_be_taken_before_its_legal_moves_are_known(visit: Any) -> None:
    page = visit.open()
    position = visit.hold("position")
    page.get_by_role("button", name="Puzzles").click()
    expect(page.get_by_label("Task")).to_contain_text("to move and win")
    expect(page.locator("#puzzle [data-square].moveable")).to_have_count(0)
    expect(page.locator("#puzzle")).not_to_have_attribute("interactive", "")
    position.release()
    expect(page.locator("#puzzle [data-square].moveable")).not_to_have_count(0)


def test_a_puzzle_is_solved_on_the_board(visit: Any) -> None:
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
