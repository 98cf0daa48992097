"""The static page's files in real Chromium: damaged ones are refused and not kept, copies on one host stay apart."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from diffusearch.play.static_page import BUILT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Hosted = Callable[[dict[str, Path]], AbstractContextManager[str]]
DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a graph is cut": ("evaluate-*.onnx", lambda content: content[: len(content) // 2]),
    "a page instead of a graph": ("predict-*.onnx", lambda content: b"<!doctype html><title>Welcome</title>"),
    "the weights are cut": ("weights-*.safetensors", lambda content: content[:-1000]),
    "random weights": (
        "weights-*.safetensors",
        lambda content: content[:100_000] + random.Random(1).randbytes(len(content) - 100_000),
    ),
    "the runtime is cut": ("*.wasm", lambda content: content[:5000]),
}
CACHED = """async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    const lists = requests.map((list) => list.map(({ url }) => url));
    return Object.fromEntries(names.map((name, index) => [name, lists[index]]));
}"""
INSTALL = """async () => {
    const { installing } = await navigator.serviceWorker.register("./service-worker.js");
    while (installing && !["redundant", "activated"].includes(installing.state))
        await new Promise((changed) => installing.addEventListener("statechange", changed, { once: true }));
    return installing?.state ?? "redundant";
}"""


def kept(page: Page) -> dict[str, list[str]]:
    """The addresses in each cache of the browser."""
    found: dict[str, list[str]] = page.evaluate(CACHED)
    return found


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_and_a_repaired_host_plays_again(
    visitor: Callable[..., Any], hosted: Hosted, tmp_path: Path, damage: str
) -> None:
    folder = shutil.copytree(BUILT, tmp_path / "page")
    pattern, change = DAMAGES[damage]
    (path,) = (folder / "assets").glob(pattern)
    whole = path.read_bytes()
    path.write_bytes(change(whole))
    with hosted({"/": folder}) as address:
        visit = visitor(address)
        page = visit.open()
        visit.type("e4", 1)
        said = page.get_by_role("alert").filter(has_text="arrives damaged")
        expect(said).to_contain_text(f"The engine's file {path.name} arrives damaged (")
        assert not any(path.name in one for addresses in kept(page).values() for one in addresses)
        path.write_bytes(whole)
        page.reload()
        expect(page.locator(".list .move")).to_have_count(2)  # the game goes on: the engine answers e4
        visit.kept_for_offline_use()


def test_a_damaged_file_in_the_cache_is_replaced(visitor: Callable[..., Any], hosted: Hosted) -> None:
    """As an earlier version of the page, or a fault of the disk, has left it."""
    with hosted({"/": BUILT}) as address:
        visit = visitor(address)
        page = visit.open()
        visit.type("e4", 2)
        visit.kept_for_offline_use()
        ((name, addresses),) = kept(page).items()
        weights = next(one for one in addresses if "weights" in one)
        spoil = "async ([name, address]) => (await caches.open(name)).put(address, new Response('<html>'))"
        page.evaluate(spoil, [name, weights])
        page.reload()
        visit.type("d4", 4)
        content = "async ([name, address]) => (await (await (await caches.open(name)).match(address)).blob()).size"
        assert page.evaluate(content, [name, weights]) > 1_000_000


def test_nothing_is_kept_for_offline_use_until_every_file_is_right(
    visitor: Callable[..., Any], hosted: Hosted, tmp_path: Path
) -> None:
    folder = shutil.copytree(BUILT, tmp_path / "page")
    whole = (folder / "licences.txt").read_bytes()
    (folder / "licences.txt").write_bytes(whole[:-1])
    with hosted({"/": folder}) as address:
        visit = visitor(address)
        page = visit.open()
        visit.type("e4", 2)
        assert page.evaluate(INSTALL) == "redundant"
        assert not any(one.endswith("/index.html") for addresses in kept(page).values() for one in addresses)
        (folder / "licences.txt").write_bytes(whole)
        page.reload()
        visit.kept_for_offline_use()
        assert any(one.endswith("/index.html") for addresses in kept(page).values() for one in addresses)


def test_two_copies_on_one_host_keep_their_own_files(visitor: Callable[..., Any], hosted: Hosted) -> None:
    with hosted({"/a": BUILT, "/b": BUILT}) as address:
        visit = visitor(address)
        lists = []
        for copy in ("a", "b"):
            page = visit.page
            page.goto(f"{address}/{copy}/")
            visit.type("e4", 2)
            visit.kept_for_offline_use()
            lists.append(kept(page))
            visit.new_game("Search")  # games are stored for the whole host
        (before,) = lists[0].items()
        assert lists[1].keys() == {f"diffusearch {address}/{copy}/" for copy in ("a", "b")}
        assert before in lists[1].items()
    visit.context.set_offline(True)
    for copy in ("a", "b"):
        visit.page.goto(f"{address}/{copy}/")
        visit.type("e4", 2)
        visit.new_game("Search")


def test_the_licences_are_read_offline(visitor: Callable[..., Any], hosted: Hosted) -> None:
    with hosted({"/": BUILT}) as address:
        visit = visitor(address)
        page = visit.open()
        visit.type("e4", 2)
        visit.kept_for_offline_use()
    visit.context.set_offline(True)
    visit.icon_missing = True
    page.goto(f"{address}/licences.txt")
    expect(page.locator("body")).to_contain_text("Burnett")
