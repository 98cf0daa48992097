"""What is built into the page of others' work is named with its licence, and the text goes where the page goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.play.server import assets

WEB = Path(__file__).parents[2] / "web"
LIBRARIES = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["dependencies"]
TYPES = [name for name in LIBRARIES if name.startswith("@types/")]  # declarations: nothing of them is in the page
TEXT = (WEB / "public" / "licences.txt").read_text(encoding="utf-8")


def test_the_pieces_have_an_author_and_a_licence_that_fits_ours() -> None:
    pieces = TEXT.partition("THE PIECES")[2].partition("GCHESSBOARD")[0]
    for word in ("Colin M.L. Burnett", "https://commons.wikimedia.org/", "General Public License", "gpl-3.0"):
        assert word in pieces


@pytest.mark.parametrize("package", [name for name in LIBRARIES if name not in TYPES])
def test_every_library_in_the_page_has_its_licence_there(package: str) -> None:
    licence = WEB / "node_modules" / package / "LICENSE"
    if not licence.is_file():
        pytest.skip("the page's libraries are not installed; npm ci in web/")
    assert licence.read_text(encoding="utf-8").strip() in TEXT


def test_the_built_page_brings_it_along() -> None:
    try:
        page = assets()
    except UserError as error:
        pytest.skip(str(error))
    assert (page / "licences.txt").read_text(encoding="utf-8") == TEXT
