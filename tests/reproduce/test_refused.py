"""What `reproduce all` refuses before any work, and what it tells of the paper's size."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import SCALES
from diffusearch.reproduce.whole import Whole, check_whole, planned

pytestmark = pytest.mark.slow

TINY = SCALES["tiny"]
GAMES = Path(__file__).parents[1] / "fixtures" / "games.pgn"


@pytest.fixture
def whole(tmp_path: Path, puzzles: Path) -> Whole:
    """All that `reproduce all` needs; no test gets as far as to ask the engine."""
    setting = Setting(Path(), tmp_path / "out", scale=TINY, recipe=TINY.recipe, puzzles=puzzles, pgn=GAMES)
    return planned(setting, engine=sys.executable)


def test_what_is_whole_passes(whole: Whole) -> None:
    check_whole(whole)


def test_a_missing_engine(whole: Whole) -> None:
    with pytest.raises(UserError, match="no engine"):
        check_whole(replace(whole, engine="/nowhere/engine"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pgn": Path("/nowhere/games.pgn")}, "no file of games"),
        ({"puzzles": None}, "--puzzles"),
        ({"puzzles": Path("/nowhere/puzzles.csv")}, r"no puzzle file .*nowhere.* --puzzles"),
        ({"actions": Path("/nowhere/actions.parquet")}, "nowhere/actions.parquet"),
        ({"recipe": "laptop"}, "does not fit"),
        ({"settings": ("seed=5",)}, "would override seed"),
        ({"scale": SCALES["10k"], "recipe": "paper-10k"}, "--plan"),
    ],
)
def test_missing_files_and_wrong_bases(whole: Whole, change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        check_whole(replace(whole, setting=replace(whole.setting, **change)))


def test_a_full_disk(whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 10**12, 10**6))
    fresh = replace(whole.setting, out=tmp_path, runs=tmp_path / "runs", labels=tmp_path / "labels")
    with pytest.raises(UserError, match=r"needs about .* GB more .* --out"):
        check_whole(replace(whole, setting=replace(fresh, actions=tmp_path / "labels" / "test")))


def test_the_verb_tells_what_is_missing(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "all", "--scale", "laptop", "--out", str(tmp_path)])
    assert "--games" in str(done.exception)


def test_the_paper_in_gpu_hours() -> None:
    done = CliRunner().invoke(app, ["reproduce", "all", "--scale", "paper", "--plan"])
    assert done.exit_code == 0, done.output
    assert "s-asa: at most" in done.output
    assert "GPU-hours in all" in done.output
