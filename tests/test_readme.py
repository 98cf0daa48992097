"""The commands of README.md run and print what it says, and the links of all documents lead to files.

Options in SHORTER make long commands short; a command that is not listed there fails the test. Commands in LOOKED_AT
need other machines and are not run.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import types
import urllib.request
from pathlib import Path

import pytest

from diffusearch.training.named_recipes import find_recipe, named_recipes
from diffusearch.training.recipe import load_recipe
from diffusearch.weights import VERSION, packaged, version_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")

SMALL = "optimiser.steps=2 optimiser.batch=4 optimiser.warmup=1 optimiser.epochs=0 watch.validate_records=4"
SMALL += " model.trunk.layers=1 model.trunk.width=48 model.trunk.heads=2 data.cache=cache"
SHORTER = {
    "diffusearch label": "--nodes 20 --per-game 2 --limit-games 6",
    "diffusearch data show": "",
    "diffusearch train": " ".join(f"--set {one}" for one in SMALL.split()),
    "diffusearch move": "",
    "diffusearch explain": "",
    "diffusearch eval actions": "--limit 4",
    "diffusearch tournament": "--games 2 --max-plies 4 --replicas 10",
    "diffusearch reproduce list": "",
    "diffusearch export": "",
    "diffusearch uci": "",
}
LOOKED_AT = ("torchrun ",)


@pytest.fixture(scope="module")
def page() -> types.ModuleType:
    """The tool that keeps the console blocks up to date."""
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tools" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the repository, for commands that write."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("tests", "recipes"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _path() -> None:
    """The program stands beside the Python that runs the tests."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def commands(page: types.ModuleType) -> list[str]:
    return [line for block in page.blocks("sh") for line in block.splitlines()]


def run(command: str, desk: Path) -> None:
    done = subprocess.run(
        shlex.split(command), cwd=desk, input="uci\nquit\n", capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    if command == "diffusearch uci":
        assert "uciok" in done.stdout


def shortened(command: str) -> str:
    found = [words for words in SHORTER if command.startswith(words)]
    assert len(found) == 1, f"README.md has a command that its test does not know: {command}"
    return f"{command} {SHORTER[found[0]]}".strip()


def own_weights(command: str) -> bool:
    """Whether a command does without the packaged weights."""
    return command.startswith(("diffusearch label", "diffusearch data", "diffusearch train", "diffusearch repro")) or (
        "--weights" in command or command == "diffusearch uci"
    )


def test_training_ones_own(page: types.ModuleType, desk: Path) -> None:
    own = [one for one in commands(page) if own_weights(one) and not one.startswith(LOOKED_AT)]
    assert [one.split()[1] for one in own] == ["uci", "label", "data", "train", "train", "move", "export", "reproduce"]
    for command in own:
        run(shortened(command), desk)


def test_asking_and_measuring(page: types.ModuleType, desk: Path) -> None:
    for command in commands(page):
        if not own_weights(command) and not command.startswith(LOOKED_AT):
            run(shortened(command), desk)


def test_every_named_recipe_is_there(page: types.ModuleType) -> None:
    names = re.findall(r"\btrain ([a-z][\w-]*)", TEXT)
    assert {"laptop", "debug", "paper-10k", "paper-100k"} <= set(names)
    assert set(names) <= set(named_recipes())
    for name in set(names):
        load_recipe(find_recipe(name))


def test_consoles_print_what_stands_there(page: types.ModuleType) -> None:
    for block in page.blocks("console"):
        for one in page.shown(block):
            if one.command not in page.STAYS:
                printed = page.ran(one.command)
                assert plain(printed) == plain(one.output), f"run `make readme`: {one.command}\n{printed}"


def plain(output: str) -> list[str]:
    """Output without what may differ a little from machine to machine: the shares and their order."""
    lines = [line for line in output.splitlines() if not re.search(r"\d %|\d%", line)]
    return [*lines, str(len(output.splitlines()))]


def test_make_starts_what_the_page_says() -> None:
    for target in ("play", "demo"):
        done = subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True, text=True)
        assert f"diffusearch {target}" in done.stdout.splitlines()


def test_play_serves_the_page(page: types.ModuleType) -> None:
    (said,) = [
        one.output for block in page.blocks("console") for one in page.shown(block) if one.command == "make play"
    ]
    command = ["diffusearch", "play", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert re.sub(r":\d+/", "/", line) == re.sub(r":\d+/", "/", said)
            (address,) = re.findall(r"http://[\d.]+:\d+/", line)
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert b"<html" in answer.read()
        finally:
            server.terminate()


def test_python_runs(page: types.ModuleType, desk: Path) -> None:
    (code,) = page.blocks("python")
    lines = [line for line in code.splitlines() if line]
    assert len(lines) <= 5
    done = subprocess.run([sys.executable, "-c", code], cwd=desk, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "line      5. " in done.stdout


def test_links_lead_somewhere() -> None:
    card = "src/diffusearch/weights/CARD.md"
    for name in ("README.md", "CONTRIBUTING.md", card, *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)\)", text):
            if "://" not in target:
                assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


def test_the_card_and_the_page_name_the_version_of_the_weights(tmp_path: Path) -> None:
    card = (ROOT / "src" / "diffusearch" / "weights" / "CARD.md").read_text(encoding="utf-8")
    assert f"Version {VERSION}" in card
    assert f"packaged weights {VERSION}" in TEXT
    assert version_of(packaged("diffusearch")) == VERSION
    assert version_of(tmp_path) is None


@pytest.mark.parametrize("name", ["README.md", "docs/RESULTS.md", "src/diffusearch/weights/CARD.md"])
def test_weights_are_named_by_version_or_date(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.findall(r"of the (?:morning|noon|afternoon|evening|night)", text)


def test_documents_use_the_names_of_today() -> None:
    """Options and files that were renamed stand in CHANGELOG.md and the log of experiments only."""
    for name in ("README.md", "CONTRIBUTING.md", "docs/RESULTS.md", "docs/onnx.md", "docs/lichess-bot.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.findall(r"fan=[\dx]|\bturns\.py|model/grounding|model/exposure|`sight`", text), name


def test_files_named_in_documents_exist() -> None:
    package = ROOT / "src" / "diffusearch"
    for name in ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))):
        if name.endswith("LOG.md"):  # entries keep the names of their day
            continue
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        for file in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|ts|toml|md))`", text):
            assert any((base / file).exists() for base in (ROOT, package)), f"{name} names {file}"
