"""docs/TREE.md names every file of the repository, says something about each, and names nothing else.

The picture of the two paths names files that exist, each path at most 12 and none twice.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def module_of(folder: str, name: str) -> types.ModuleType:
    """A script of tools/ or tests/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tree() -> types.ModuleType:
    """The tool that writes the page."""
    return module_of("tools", "tree")


@pytest.fixture(scope="module")
def paths() -> types.ModuleType:
    """The tool that draws the picture."""
    return module_of("tools", "paths")


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
        if name.startswith(("src/", "tests/", "tools/", "benchmarks/", "web/")) and name.endswith((".py", ".ts")):
            lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
            assert lines <= 400, f"{name} has {lines} lines: split it"


def test_the_package_stands_in_the_order_of_its_stations(tree: types.ModuleType) -> None:
    """Page, README and the rule of imports have the same stations in the same order."""
    stations = list(tree.STATIONS)
    folders = [path.name for path in (ROOT / "src" / "diffusearch").iterdir() if (path / "__init__.py").exists()]
    assert sorted(stations) == sorted(set(folders) - {"weights"})
    order = module_of("tests", "test_stations").ORDER
    assert stations == [name for name in order if name in stations]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^      (\w+)/  ", readme, re.MULTILINE) == stations


def test_paths_pass_files_that_exist_at_most_12_and_none_twice(paths: types.ModuleType) -> None:
    assert len(paths.LANES) == 2
    for lane in paths.LANES:
        files = [stop.file for stop in lane.stops]
        assert 1 <= len(files) <= 12
        assert len(set(files)) == len(files)
        assert not [name for name in files if not (ROOT / "src" / "diffusearch" / name).is_file()]
    assert paths.problems() == []


def test_the_picture_shows_the_paths(paths: types.ModuleType) -> None:
    assert paths.PICTURE.read_text(encoding="utf-8") == paths.picture(), "run `make tree`"
    assert paths.PICTURE.name in (ROOT / "docs" / "TREE.md").read_text(encoding="utf-8")
    for name in paths.NOTE_FILES:
        assert name in paths.NOTE


def test_a_wrong_path_is_found(paths: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = paths.Lane(
        "wrong", "in", (paths.Stop("nowhere.py", "is missing"), *[paths.Stop("fen.py", "reads")] * 12), "out"
    )
    monkeypatch.setattr(paths, "LANES", (wrong,))
    assert paths.problems() == ["wrong: no file nowhere.py", "wrong: fen.py twice", "wrong: 13 stops, at most 12"]
