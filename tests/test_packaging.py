"""The wheel holds all that is needed: in a clean environment it says its version, finds its parts and plays a move."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import chess
import pytest
from packaging.metadata import Metadata
from packaging.utils import canonicalize_name

from diffusearch.weights import NAMES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "diffusearch"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel; its dependencies are lent from the one that runs the tests.

    They are lent by a path file: path files in the lending folder itself are not read, so this checkout's editable
    installation stays out of sight.
    """
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    programs = folder / "bin"
    lending = sysconfig.get_path("purelib")
    own = sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", str(wheel)], check=True)
    (Path(own) / "lent.pth").write_text(f"{lending}\n")
    return programs


def run(program: Path, *words: str, cwd: Path) -> str:
    done = subprocess.run([str(program), *words], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr  # 1: doctor found something missing
    return done.stdout


def test_the_wheel_holds_page_recipes_and_data(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {"diffusearch/play/assets/index.html", "diffusearch/play/puzzles.json", "diffusearch/py.typed"}
    wanted |= {
        f"diffusearch/training/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "recipes").rglob("*.toml")
    }
    wanted |= {
        f"diffusearch/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= held, sorted(wanted - held)
    assert not [name for name in held if name.startswith(("tests/", "web/", "benchmarks/"))]


def test_it_plays_a_move_in_a_clean_environment(clean: Path, tmp_path: Path) -> None:
    found = json.loads(run(clean / "diffusearch", "move", chess.STARTING_FEN, "--json", cwd=tmp_path))
    assert chess.Move.from_uci(found["move"]) in chess.Board().legal_moves
    assert found["line"][0] == found["move"]


def test_its_parts_are_its_own(clean: Path, tmp_path: Path) -> None:
    code = """if True:
        import diffusearch, json
        from diffusearch.play.server import assets
        from diffusearch.training.named_recipes import named_recipes
        assert "flagship/policy" in named_recipes()
        paths = [diffusearch.__file__, assets(), *named_recipes().values()]
        print(json.dumps([str(path) for path in paths]))
    """
    paths = json.loads(run(clean / "python", "-c", code, cwd=tmp_path))
    assert len(paths) == 2 + len(list((ROOT / "recipes").rglob("*.toml")))
    assert all(Path(path).is_relative_to(clean.parent) for path in paths), paths
    findings = json.loads(run(clean / "diffusearch", "doctor", "--json", cwd=tmp_path))["findings"]
    good = {finding["what"] for finding in findings if finding["good"]}
    assert {"Python", "torch", "page", *(f"weights {name}" for name in NAMES)} <= good, findings


def test_every_import_is_declared(wheel: Path) -> None:
    """The clean environment borrows its dependencies, so a forgotten one would not show there."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(name), validate=False)
    for_users = [one for one in metadata.requires_dist or [] if '"dev"' not in str(one.marker)]
    declared = {canonicalize_name(requirement.name) for requirement in for_users}
    homes = packages_distributions()
    missing: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for module in imported(ast.parse(path.read_text(encoding="utf-8"))) - sys.stdlib_module_names - {"diffusearch"}:
            if not {canonicalize_name(home) for home in homes.get(module, [module])} & declared:
                missing[module] = str(path.relative_to(ROOT))
    assert not missing


def imported(tree: ast.AST) -> set[str]:
    """The top modules that a file imports when it runs, so not those for type checkers alone."""
    if isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING":
        return set().union(*map(imported, tree.orelse))
    if isinstance(tree, ast.Import):
        return {alias.name.partition(".")[0] for alias in tree.names}
    if isinstance(tree, ast.ImportFrom):
        return set() if tree.level else {(tree.module or "").partition(".")[0]}
    return set().union(*map(imported, ast.iter_child_nodes(tree)))
