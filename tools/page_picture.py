"""The pictures of the page for the documents: plays two moves against the first agent and shows what it expects.

python tools/page_picture.py                                  # docs/img/page.png, with the packaged weights
python tools/page_picture.py --agent diffusearch:runs/mine --out /tmp/page.png
python tools/page_picture.py --static                         # docs/img/static-page.png, after `make static`
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

PATIENCE = 120_000  # milliseconds: loading weights and thinking on a busy machine
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 880}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


def pose(page: Page, address: str, step: float) -> None:
    """Bring the page into the state of the picture: 1. e4 and 2. Nf3 answered, a film at a share of its steps."""
    page.goto(address)
    expect(page.get_by_role("button", name="Imagine here")).to_be_enabled()
    expect(page.locator(".top")).to_be_visible()
    for number, move in enumerate(("e4", "Nf3"), start=1):
        page.get_by_label("Type a move").fill(move)
        page.keyboard.press("Enter")
        expect(page.locator(".list .move")).to_have_count(2 * number)
    page.get_by_role("button", name="Show it now").click()
    slider = page.locator(".film input")
    if step < 1 and slider.count():  # an agent that searches has no film
        slider.fill(str(round(step * int(slider.get_attribute("max") or 0))))
    page.locator("h1").click()  # no focus ring in the picture
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(400)  # the last piece slides to its square


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", help="an agent's text; without it the packaged DiffuSearch plays")
    parser.add_argument("--step", type=float, default=1.0, help="share of the film: 0 all masked, 1 the end")
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    parser.add_argument("--static", action="store_true", help="the page without a server, as a phone shows it")
    parser.add_argument("--out", type=Path, help="the file; docs/img/page.png or docs/img/static-page.png")
    arguments = parser.parse_args()
    if arguments.static and arguments.agent:
        parser.error("the static page has its own agents: leave out --agent or --static")
    out = arguments.out or Path("docs/img") / ("static-page.png" if arguments.static else "page.png")
    chromium = os.environ.get("DIFFUSEARCH_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no Chromium on the PATH; install it or set DIFFUSEARCH_CHROMIUM.")
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0"]
    command += ["--agent", arguments.agent] if arguments.agent else []
    command += ["--static"] if arguments.static else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split(" at ")[1].split(" ")[0]
            browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
            screen = PHONE if arguments.static else DESKTOP
            page = browser.new_page(**screen, color_scheme=arguments.scheme)
            page.set_default_timeout(PATIENCE)
            expect.set_options(timeout=PATIENCE)
            pose(page, address, arguments.step)
            out.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=out)
            browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
