"""The order of the stations: a folder or module of the package imports only those before it.

Imports inside functions and for type checkers count too. Whoever needs something of a later station moves it to an
earlier one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "diffusearch"
ORDER = (
    "errors",
    "extras",
    "ranges",
    "files",
    "worker_process",
    "worker_pool",
    "ray_cluster",
    "weights",
    "tokens",
    "fen",
    "ending",
    "data",
    "model",
    "diffusion",
    "training",
    "graphs",
    "inference",
    "search",
    "drafts",
    "agents",
    "evaluation",
    "play",
    "reproduce",  # after play: it draws its cases with play.pictures
    "checkup",
    "notebook",
    "cli",
)
# What a station must not import though the order allows it: tensors know no chess, and neighbours that work side by
# side know nothing of each other.
STRANGERS = {
    "tokens": {"pyarrow"},
    "data": {"torch"},
    "model": {"chess", "diffusearch.data", "pyarrow"},
    "diffusion": {"chess", "diffusearch.data", "pyarrow"},
    "graphs": {"chess", "torch", "diffusearch.data", "pyarrow"},
    "search": {"torch", "diffusearch.data", "diffusearch.model", "diffusearch.diffusion", "diffusearch.training"},
    "agents": {"diffusearch.model", "diffusearch.training"},
    "evaluation": {"diffusearch.model", "diffusearch.diffusion", "diffusearch.training", "diffusearch.search"},
    "play": {"diffusearch.evaluation"},
}


def station(path: Path) -> str:
    """The first part of a file's path inside the package, without its ending."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def files(name: str) -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if station(path) == name]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and names of all modules that a file imports; names of the package are whole."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the whole name of the module"
            assert node.module is not None
            if node.module == "diffusearch":
                yield from ((node.lineno, f"diffusearch.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def test_every_station_has_a_place_in_the_order() -> None:
    found = {station(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"}
    assert found == set(ORDER), "a new folder or module needs a place in ORDER"


@pytest.mark.parametrize("name", ORDER)
def test_a_station_imports_only_earlier_ones(name: str) -> None:
    allowed = {*ORDER[: ORDER.index(name) + 1], "__version__"}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {module}"
        for path in files(name)
        for line, module in imports(path)
        if module.startswith("diffusearch.") and module.split(".")[1] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers_stay_strangers(name: str) -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {module}"
        for path in files(name)
        for line, module in imports(path)
        if any(module == other or module.startswith(f"{other}.") for other in STRANGERS[name])
    ]
    assert not wrong, "\n".join(wrong)


def test_the_test_sees_imports_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    lines = ["import chess.engine, torch as t", "from diffusearch import cli, fen", "def f():"]
    path.write_text("\n".join([*lines, "    from diffusearch.play.api import x"]))
    assert [module for _, module in imports(path)] == [
        "chess.engine",
        "torch",
        "diffusearch.cli",
        "diffusearch.fen",
        "diffusearch.play.api",
    ]
