"""docs/TREE.md names every file of the repository, says something about each, and names nothing else."""

from __future__ import annotations

import importlib.util
import re
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tree() -> types.ModuleType:
    """The tool that writes the page."""
    spec = importlib.util.spec_from_file_location("tree", ROOT / "tools" / "tree.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed() -> dict[str, str]:
    """Path -> phrase, as the page says."""
    (block,) = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "TREE.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = block.splitlines()
    found: dict[str, str] = {}
    folders: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, phrase = line.strip().partition(" ")
        folders[depth:] = [name]
        opened = name.endswith("/") and len(after) - len(after.lstrip()) > 2 * depth
        if not opened:
            found["".join(folders)] = phrase.strip()
    return found


def test_the_page_lists_what_is_there(tree: types.ModuleType) -> None:
    page, there = set(listed()), set(tree.shown())
    assert page == there, f"run `make tree`: new {sorted(there - page)}, gone {sorted(page - there)}"


def test_every_file_has_a_phrase() -> None:
    assert not [name for name, phrase in listed().items() if not phrase]


def test_no_file_is_too_long(tree: types.ModuleType) -> None:
    """One idea a file: 400 lines are the end."""
    for name in tree.files():
        if name.startswith("src/") and name.endswith((".py", ".ts")):
            lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
            assert lines <= 400, f"{name} has {lines} lines: split it"
