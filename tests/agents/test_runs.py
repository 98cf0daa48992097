"""Which runs can play as what, and loading once."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import diffusearch.inference.run
from diffusearch.agents import runs
from diffusearch.errors import UserError


def fake(paradigm: str, values: bool = False, kind: str = "absorbing") -> Any:
    process = SimpleNamespace(kind=kind)
    return SimpleNamespace(paradigm=paradigm, has_value=values, recipe=SimpleNamespace(process=process))


@pytest.mark.parametrize(
    ("word", "good", "bad"),
    [
        ("s-a", fake("s-a"), fake("s-v", values=True)),
        ("s-a", fake("s-asa"), fake("sa-v")),
        ("s-v", fake("s-v", values=True), fake("s-a")),
        ("s-v", fake("s-asa", values=True), fake("s-asa")),
        ("sa-v", fake("sa-v"), fake("s-v", values=True)),
        ("diffusearch", fake("s-asa"), fake("s-v", values=True)),
        ("direct", fake("s-asa", kind="direct"), fake("s-asa")),
        ("autoregressive", fake("s-asa", kind="autoregressive"), fake("s-asa", kind="direct")),
    ],
)
def test_who_can_play_as_what(word: str, good: Any, bad: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_load", lambda path, backend, stamp: good)
    assert runs.run("here", "s-a", word) is good
    monkeypatch.setattr(runs, "_load", lambda path, backend, stamp: bad)
    with pytest.raises(UserError, match=f"cannot play as {word}"):
        runs.run("here", "s-a", word)


def test_a_run_is_loaded_once_until_its_weights_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []

    def load(path: Path, backend: str) -> Any:
        loads.append(path)
        return fake("s-a")

    monkeypatch.setattr(diffusearch.inference.run.Run, "load", load)
    weights = tmp_path / "weights.safetensors"
    weights.write_bytes(b"one")
    first = runs.run(str(tmp_path), "s-a", "s-a")
    assert runs.run(str(tmp_path), "s-a", "s-a") is first
    os.utime(weights, ns=(1, 1))
    assert runs.run(str(tmp_path), "s-a", "s-a") is not first
    assert loads == [tmp_path, tmp_path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        runs.run(str(tmp_path / "nowhere"), "s-a", "s-a")


def test_weights_inside_the_package_have_names_and_folders_go_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[Path] = []
    monkeypatch.setattr(runs, "_load", lambda path, backend, stamp: opened.append(path) or fake("s-a"))
    monkeypatch.setattr("diffusearch.weights.packaged", lambda name: Path("/package") / name)
    runs.run("s-a", "diffusearch", "diffusearch")
    runs.run(None, "diffusearch", "diffusearch")
    runs.run("elsewhere", "diffusearch", "diffusearch")
    (tmp_path / "s-a").mkdir()
    runs.run("s-a", "diffusearch", "diffusearch")
    assert opened == [Path("/package/s-a"), Path("/package/diffusearch"), tmp_path / "elsewhere", tmp_path / "s-a"]
