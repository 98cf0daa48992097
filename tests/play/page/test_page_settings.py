"""The settings dialog: theme, board, pieces, arrows and the bar, kept over a reload."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def piece(page: Page) -> str:
    return str(
        page.locator("#board [data-square=e2] .piece").first.evaluate("e => getComputedStyle(e).backgroundImage")
    )


def test_settings_change_the_page_and_are_kept(visit: Any) -> None:
    page = visit.open()
    expect(page.locator("#board .has-piece")).to_have_count(32)
    light, classic = background(page), piece(page)
    page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Dark").check()
    assert background(page) != light
    dialog.get_by_label("Letters").check()
    letters = piece(page)
    dialog.get_by_label("Simple").check()
    assert len({classic, letters, piece(page)}) == 3
    dialog.get_by_label("Brown").check()
    dialog.get_by_label("Evaluation bar").uncheck()
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("meter")).to_have_count(0)
    page.reload()
    expect(page.locator("#board .has-piece")).to_have_count(32)
    assert background(page) != light
    assert piece(page) not in (classic, letters)
    expect(page.locator("html")).to_have_attribute("data-board", "brown")
    expect(page.get_by_role("meter")).to_have_count(0)


def test_arrows_can_be_turned_off(visit: Any) -> None:
    page = visit.open()
    page.get_by_role("button", name="Imagine here").click()
    expect(page.locator(".overlay text")).to_have_count(4)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Arrows of the line").uncheck()
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".overlay text")).to_have_count(0)


def test_broken_storage_is_no_problem(visit: Any) -> None:
    page = visit.open()
    page.evaluate("localStorage.setItem('diffusearch', JSON.stringify({settings: {theme: 7, pieces: 'x'}, clock: 3}))")
    page.reload()
    expect(page.locator("#board .has-piece")).to_have_count(32)
    expect(page.locator("html")).to_have_attribute("data-pieces", "classic")
