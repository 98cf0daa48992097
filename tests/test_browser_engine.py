"""The browser's engine and the Python side: settings are written anew after changes, packages are free and pinned."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shutil
import subprocess
import types
from pathlib import Path

import chess
import pytest

from diffusearch.agents.build import agent
from diffusearch.agents.spec import DEFAULT_AGENT
from diffusearch.inference.run import Run
from diffusearch.weights import packaged

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
FREE = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "GPL-3.0-or-later", "MPL-2.0", "WTFPL", "0BSD"}


@pytest.fixture(scope="module")
def tool() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("browser_engine", ROOT / "tools" / "browser_engine.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_settings_are_those_of_python(tool: types.ModuleType) -> None:
    now = tool.written(tool.settings(agent(DEFAULT_AGENT), Run.load(packaged("diffusearch"))))
    assert tool.SETTINGS.read_text(encoding="utf-8") == now, "run `python tools/browser_engine.py`"


def test_the_endings_are_those_of_python(tool: types.ModuleType) -> None:
    assert tool.ENDINGS.read_text(encoding="utf-8") == tool.endings(), "run `python tools/browser_engine.py`"


def test_the_golden_vectors_are_positions_of_their_games(tool: types.ModuleType) -> None:
    assert tool.GOLDEN.stat().st_size < 300_000
    found = json.loads(gzip.decompress(tool.GOLDEN.read_bytes()))
    assert len(found["positions"]) == tool.POSITIONS
    for one in found["positions"][::25]:
        board = chess.Board()
        for uci in found["games"][one["game"]].split()[: one["ply"]]:
            board.push_uci(uci)
        assert board.fen() == one["fen"]
        for found_by in ("search", "drafts"):
            assert chess.Move.from_uci(one[found_by][0]) in board.legal_moves


@pytest.mark.slow
def test_the_engine_in_typescript() -> None:
    """All tests of web/tests, among them the golden vectors where the graphs of the network are built."""
    if shutil.which("npm") is None or not (WEB / "node_modules" / "vitest").is_dir():
        pytest.skip("vitest is not installed; run `make setup`")
    done = subprocess.run(["npm", "test"], cwd=WEB, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_packages_are_free_and_pinned_without_addresses() -> None:
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert "://" not in re.sub(r'"url": "https?://[^"]*"', "", lock)  # pages where authors may be paid
    packages = json.loads(lock)["packages"]
    strange = {
        name: entry.get("license")
        for name, entry in packages.items()
        if name and not set(re.split(r"[() ]+(?:OR|AND)?[() ]*", entry.get("license", "?"))) & FREE
    }
    assert strange == {}
    assert all("integrity" in entry for name, entry in packages.items() if name)


def test_the_served_page_holds_nothing_of_the_engine() -> None:
    """What is built into the package grows by no rules, no network and no worker."""
    page = (WEB / "src" / "api-server.ts").read_text(encoding="utf-8")
    assert "engine/" not in page
    own = [path for path in (WEB / "src").glob("*.ts") if path.name not in {"api-worker.ts", "service-worker.ts"}]
    for path in own:
        assert "./engine" not in path.read_text(encoding="utf-8"), path.name
    wanted = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    assert not {"chessops", "onnxruntime-web"} & wanted["dependencies"].keys()  # `make play` does not install them
