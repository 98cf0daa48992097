"""For the tests of the page: a visitor in real Chromium, and what visitors do again and again."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response
from playwright.sync_api import Browser, Locator, Page, Playwright, Route, expect, sync_playwright

from diffusearch.play.server import config, listen
from diffusearch.play.static_page import BUILT, static_app

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PATIENCE = 60_000  # milliseconds, on a busy machine
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Not by wait_for_function: it polls by eval, which the content policy of the static page refuses.
CONTROLLED = """async () => {
    const worker = navigator.serviceWorker;
    if (worker.controller) return;
    await new Promise((met) => worker.addEventListener("controllerchange", met, { once: true }));
}"""

expect.set_options(timeout=PATIENCE)


def _launch(playwright: Playwright) -> Browser:
    """The Chromium of this machine; the test is skipped where there is none."""
    chromium = os.environ.get("DIFFUSEARCH_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on the PATH; install it or set DIFFUSEARCH_CHROMIUM")
    return playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)


class Held:
    """The first request to one route of the API, held back until the test releases it; later ones pass."""

    def __init__(self, page: Page, path: str) -> None:
        self._page = page
        self._first: list[Route] = []
        page.route(f"**/api/{path}", self._take)

    def _take(self, route: Route) -> None:
        if self._first:
            route.continue_()
        else:
            self._first.append(route)

    def arrived(self) -> None:
        """Wait until the page has asked."""
        while not self._first:
            self._page.wait_for_timeout(20)

    def release(self) -> None:
        self.arrived()
        self._first[0].continue_()


class Visit:
    """A fresh visitor of the page; anything in the console that is an error is collected."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.address = address
        self.faults: list[str] = []
        self.icon_missing = False  # beside a text the browser asks for an icon that no host has, at a time of its own
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, hash_: str = "") -> Page:
        self.page.goto(self.address + "/" + hash_)
        expect(self.page.locator(".player").last).to_contain_text("You")
        return self.page

    def change(self, path: str, change: Callable[[Any], Any]) -> None:
        """Let a test change the answers of one route of the API: agents without weights do not say everything."""

        def handle(route: Route) -> None:
            answer = route.fetch()
            body = change(answer.json()) if answer.ok else answer.json()
            route.fulfill(response=answer, body=json.dumps(body))

        self.page.route(f"**/api/{path}", handle)

    def hold(self, path: str) -> Held:
        """Hold back the answer to the next request of one route."""
        return Held(self.page, path)

    def square(self, name: str) -> Locator:
        return self.page.locator(f"#board [data-square={name}]")

    def drag(self, source: str, target: str, button: Any = "left", *, piece: bool = True) -> None:
        """Drag a piece as soon as it can be moved, or draw an arrow with another button."""
        if button == "left" and piece:
            expect(self.square(source)).to_be_enabled()
        self.square(source).hover()
        self.page.mouse.down(button=button)
        self.square(target).hover()
        self.page.mouse.up(button=button)

    def premove(self, source: str, target: str) -> None:
        """Queue a move; the board drops a drag during which it is drawn anew, so a player drags again."""
        marks = self.page.locator("#board .mark.premove")
        for _ in range(20):
            self.drag(source, target)
            with suppress(AssertionError):
                expect(marks).to_have_count(2, timeout=2000)
                return
        expect(marks).to_have_count(2)

    def moves(self) -> list[str]:
        return [text.strip() for text in self.page.locator(".list .move").all_inner_texts()]

    def type(self, move: str, count: int) -> None:
        """Type a move and wait until the game has `count` half-moves."""
        self.page.get_by_label("Type a move").fill(move)
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".list .move")).to_have_count(count)

    def lose(self) -> None:
        """The shortest game: the dreamer mates with its favourite move."""
        self.type("f3", 2)
        self.type("g4", 4)

    def new_game(self, agent: str, side: str = "White", clock: str | None = None) -> None:
        self.page.get_by_role("button", name="New game").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label(side, exact=True).check()
        dialog.get_by_label("Agent").select_option(label=agent)
        if clock:
            dialog.get_by_label("Clock").select_option(label=clock)
        dialog.get_by_role("button", name="Start").click()
        expect(dialog).to_be_hidden()

    def kept_for_offline_use(self) -> None:
        """Wait until the service worker of the static page has all files and answers for the host."""
        self.page.evaluate(CONTROLLED)

    def close(self) -> None:
        self.context.close()
        faults = [fault for fault in self.faults if not (self.icon_missing and fault.startswith("Failed to load"))]
        assert faults == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = _launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, page_server: Any) -> Iterator[Visit]:
    """A visitor at a desktop; the console must stay free of errors."""
    visit = Visit(browser, page_server.address)
    yield visit
    visit.close()


@pytest.fixture
def phone(browser: Browser, page_server: Any) -> Iterator[Visit]:
    visit = Visit(browser, page_server.address, **PHONE)
    yield visit
    visit.close()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Makes visitors of any address, at a desktop or with a phone."""
    visits: list[Visit] = []

    def make(address: str, *, phone: bool = False) -> Visit:
        visits.append(Visit(browser, address, **(PHONE if phone else {})))
        return visits[-1]

    yield make
    for one in visits:
        one.close()


@contextmanager
def _hosted(folders: dict[str, Path]) -> Iterator[str]:
    host = FastAPI(openapi_url=None)

    @host.middleware("http")
    async def kept_for_an_hour(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await answer(request)
        response.headers["cache-control"] = "max-age=3600"
        return response

    for place, folder in folders.items():
        host.mount(place, static_app(folder))
    listener = listen(0)
    server = uvicorn.Server(config(host))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=60)
        listener.close()


@pytest.fixture
def hosted() -> Callable[[dict[str, Path]], AbstractContextManager[str]]:
    """A host that has the page in one folder or more; as many static hosts it lets the browser keep its answers.

    The test is skipped where the page is not built.
    """
    if not (BUILT / "service-worker.js").is_file():
        pytest.skip("the static page is not built; run `make static`")
    return _hosted
