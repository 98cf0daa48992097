"""The wheel holds all that is needed: in a clean environment without torch it finds its parts and plays everywhere."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import chess
import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
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
    """The programs of an environment that has the wheel and what it needs to play, and nothing else: no torch.

    The needed packages are lent, link by link, from the environment that runs the tests.
    """
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    programs = folder / "bin"
    own = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--quiet", str(wheel)], check=True)
    for name in needed(requirements(wheel)):
        for top in {file.parts[0] for file in distribution(name).files or () if file.parts[0] not in ("..", "bin")}:
            source, link = Path(str(distribution(name).locate_file(top))), own / top
            if source.exists() and not link.exists():
                link.symlink_to(source)
    return programs


def requirements(wheel: Path) -> list[Requirement]:
    """What the wheel says that it needs, extras included."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(name), validate=False)
    return metadata.requires_dist or []


def needed(wanted: list[Requirement]) -> set[str]:
    """The names of all distributions that requirements without extras pull here."""
    found: set[str] = set()
    waiting = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in found:
            found.add(name)
            further = [Requirement(text) for text in distribution(name).requires or ()]
            waiting += [one for one in further if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


# The checkout must not be found by way of the environment.
ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(program: Path, *words: str, cwd: Path) -> str:
    done = subprocess.run([str(program), *words], cwd=cwd, env=ALONE, capture_output=True, text=True, timeout=120)
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


def test_nothing_of_training_is_there(clean: Path, tmp_path: Path) -> None:
    code = "from importlib.util import find_spec; print([find_spec(name) is None for name in NAMES])"
    names = ("torch", "pyarrow", "safetensors", "onnx", "matplotlib", "ray")
    assert run(clean / "python", "-c", code.replace("NAMES", str(names)), cwd=tmp_path) == f"{[True] * len(names)}\n"


def test_what_needs_the_extra_names_it(clean: Path, tmp_path: Path) -> None:
    labels = str(ROOT / "tests" / "fixtures" / "labelled")
    for words in (
        ("train", "debug"),
        ("eval", "actions", "--agent", "s-a", "--data", labels),
        ("data", "show", labels),
        ("export", "--graphs"),
        ("move", "startpos", "--agent", "diffusearch?cache=on&carry=keep"),
    ):
        done = subprocess.run([clean / "diffusearch", *words], cwd=tmp_path, env=ALONE, capture_output=True, text=True)
        assert done.returncode == 2, (words, done.stderr)
        (line,) = done.stderr.strip().splitlines()
        assert line.endswith("which is not installed: pip install 'diffusearch[train]'"), (words, line)


def test_a_tournament_leaves_its_picture_out(clean: Path, tmp_path: Path) -> None:
    words = ("tournament", "--agents", "random greedy-material", "--games", "2", "--max-plies", "6", "--out", "out")
    done = subprocess.run([clean / "diffusearch", *words], cwd=tmp_path, env=ALONE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "crosstable.png needs matplotlib, which is not installed: pip install 'diffusearch[figures]'" in done.stderr
    assert (tmp_path / "out" / "crosstable.md").is_file()


def test_it_plays_in_uci(clean: Path, tmp_path: Path) -> None:
    talk = "uci\nisready\nposition startpos moves e2e4\ngo\n"
    done = subprocess.run(
        [clean / "diffusearch-uci"], input=talk, cwd=tmp_path, env=ALONE, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "readyok" in done.stdout
    (best,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("bestmove")]
    board = chess.Board()
    board.push_uci("e2e4")
    assert chess.Move.from_uci(best) in board.legal_moves


def test_it_plays_on_the_page(clean: Path, tmp_path: Path) -> None:
    command = [clean / "diffusearch", "play", "--no-open", "--port", "0"]
    board = chess.Board()
    board.push_uci("e2e4")
    with subprocess.Popen(command, cwd=tmp_path, env=ALONE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split(" ")[0]
            with urllib.request.urlopen(address, timeout=120) as answer:
                assert b"DiffuSearch" in answer.read()
            for agent in ("search", "diffusearch", "s-a", "mcts"):
                asked = json.dumps({"moves": ["e2e4"], "agent": agent}).encode()
                request = urllib.request.Request(
                    f"{address}api/think", asked, {"Content-Type": "application/json", "Origin": address.rstrip("/")}
                )
                with urllib.request.urlopen(request, timeout=300) as answer:
                    assert chess.Move.from_uci(json.load(answer)["move"]) in board.legal_moves
        finally:
            process.terminate()


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
    assert {"Python", "onnxruntime", "page", *(f"weights {name}" for name in NAMES)} <= good, findings
    assert "torch" not in good


def test_every_import_is_declared(wheel: Path) -> None:
    """Also those of the extras, which the clean environment does not have."""
    for_users = [one for one in requirements(wheel) if '"dev"' not in str(one.marker)]
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
