"""The verb `doctor`: each thing that may be missing is found missing and comes with a remedy."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import diffusearch.checkup as checkup
from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.weights import VERSION


def test_python_and_back_ends_are_found_here() -> None:
    assert checkup.python().good
    for found in (checkup.onnxruntime(), checkup.torch()):
        assert found.good
        assert found.found[0].isdigit()


def test_torch_is_not_needed_to_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "find_spec", lambda name: None)
    found = checkup.torch()
    assert not found.good
    assert not found.needed
    assert "diffusearch[train]" in found.remedy


def test_old_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "OLDEST_PYTHON", (9, 0))
    found = checkup.python()
    assert not found.good
    assert "9.0" in found.remedy


@pytest.mark.engine
def test_stockfish_says_its_name() -> None:
    found = checkup.stockfish()
    assert found.good, found
    assert "Stockfish" in found.found


def test_an_engine_that_speaks_no_uci_is_no_stockfish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Callable[..., str]
) -> None:
    program(tmp_path / "stockfish", "-c", "print('hello')")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = checkup.stockfish()
    assert not found.good
    assert not found.needed
    assert "speaks no UCI" in found.found


def test_weights_are_opened(tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "packaged", lambda name: tiny_run)
    found = checkup.weights("diffusearch").found
    assert f"{VERSION}: s-asa, horizon 4" in found
    assert "; torch, " in found
    assert found.endswith(" ms an evaluation")
    damaged = tmp_path / "damaged"
    shutil.copytree(tiny_run, damaged)
    weights = damaged / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    monkeypatch.setattr(checkup, "packaged", lambda name: damaged)
    found = checkup.weights("diffusearch")
    assert not found.good
    assert "damaged" in found.found


def _absent(name: str = "") -> Path:
    raise UserError("not there")


def test_exit_code_tells_whether_one_can_play(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffusearch.play.server.assets", lambda: tiny_run)
    monkeypatch.setattr(checkup, "packaged", lambda name: tiny_run if name == "diffusearch" else _absent())
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "missing  weights s-a" in result.stdout
    assert "ready to play" in result.stdout.splitlines()[-1]

    monkeypatch.setattr("diffusearch.play.server.assets", _absent)
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert said["good"] is False
    assert [one["what"] for one in said["findings"] if one["needed"] and not one["good"]] == ["page"]


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"diffusearch {metadata.version('diffusearch')}, weights {VERSION}\n"


def test_the_page_refuses_an_agent_that_is_not_there() -> None:
    result = CliRunner().invoke(app, ["play", "--no-open", "--port", "0", "--agent", "nobody"])
    assert isinstance(result.exception, UserError)
    assert "nobody" in str(result.exception)
