from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import torch
from typer.testing import CliRunner

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.reproduce.driver import Setting, Stage, folder_of, make, resolved, stage_of
from diffusearch.reproduce.exhibit import Exhibit, Row, Training, row
from diffusearch.reproduce.page import write_page
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_text

FEN = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"


class Certain(Agent):
    """Mates in one if its text says "good", else moves its king."""

    def __init__(self, text: str) -> None:
        self.name = text

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        wanted = chess.Move.from_uci("a1a8" if "good" in self.name else "g1f1")
        move = wanted if board.is_legal(wanted) else next(iter(board.legal_moves))
        return Decision(move, {move: 1.0}, line=(move,))


@pytest.fixture(autouse=True)
def certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "diffusearch.agents.build", SimpleNamespace(agent=Certain))


@pytest.fixture
def actions(tmp_path: Path) -> Path:
    columns: dict[str, Any] = {"fen": [FEN], "line": ["a1a8"], "cp": [0], "mate": pa.nulls(1, pa.int16()), "nodes": [1]}
    columns |= {"pool": ["p"], "game": [0], "ply": [0], "played": ["a1a8"]}
    parquet.write_table(pa.table(columns), tmp_path / "test.parquet")
    return tmp_path / "test.parquet"


@pytest.fixture
def puzzles(tmp_path: Path) -> Path:
    path = tmp_path / "puzzles.csv"
    path.write_text("PuzzleId,FEN,Moves,Rating,Themes\nhard,6k1/4rppp/8/8/8/8/8/R5K1 b - - 0 1,e7b7 a1a8,1900,mate\n")
    return path


def trained(folder: Path, step: int = 10, **more: object) -> None:
    """A run's files after so many steps, with one record an epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"step": step, "seed": 0, "name": folder.name, "best": None, "worse": 0, "records": 1} | more
    for name in ("weights", "checkpoint"):
        save_tensors(folder / f"{name}.safetensors", {"one": torch.zeros(1)}, about)


def table(*metrics: str) -> Exhibit:
    rows = (
        row("Direct", "x", Training("good")),
        row("Gaussian", "x", Training("bad", ("process.kind=gaussian",))),
        Row("Autoregressive", "y:{absent},{good}", (Training("absent", ("loss.changed=2.0",)), Training("good"))),
    )
    return Exhibit("training", "Training methods", metrics, rows)


def test_rows_are_measured_or_come_with_the_command_that_is_missing(tmp_path: Path, actions: Path) -> None:
    setting = Setting(tmp_path / "runs", tmp_path / "out", actions=actions, settings=("optimiser.steps=5",))
    trained(setting.runs / "good")
    trained(setting.runs / "bad")
    made = make(table("actions", "latency"), setting)
    assert made.results["Direct"]["actions"]["accuracy"] == 1.0
    assert made.results["Gaussian"]["actions"]["accuracy"] == 0.0
    assert made.results["Direct"]["latency"]["milliseconds"]["median"] > 0
    assert list(made.missing) == ["Autoregressive"]
    page = write_page(table("actions", "latency"), made, setting).read_text()
    assert "| Direct | 100.0 [20.7, 100.0] |" in page
    assert "| 20.61 |" in page  # the paper's
    assert "Table 5" in page
    assert "| Autoregressive | - | - | 27.39 |" in page
    assert f"diffusearch train paper-10k --out {setting.runs}/absent" in page
    assert "--set loss.changed=2.0 --set optimiser.steps=5" in page
    assert page.count("--out") == 1
    assert (setting.out / "training.png").is_file()
    assert len(list((setting.out / "results").glob("*.json"))) == 4


def test_elo_comes_from_a_tournament_of_the_rows(tmp_path: Path, actions: Path) -> None:
    setting = Setting(tmp_path / "runs", tmp_path / "out", actions=actions, games=2)
    trained(setting.runs / "good")
    trained(setting.runs / "bad")
    made = make(table("elo"), setting)
    assert {label: set(results) for label, results in made.results.items()} == {"Direct": {"elo"}, "Gaussian": {"elo"}}
    assert (setting.out / "tournament" / "games.pgn").is_file()
    assert "tournament/tournament.json" in write_page(table("elo"), made, setting).read_text()


def test_cases_are_drawn(tmp_path: Path, puzzles: Path) -> None:
    setting = Setting(tmp_path / "runs", tmp_path / "out", puzzles=puzzles)
    trained(setting.runs / "good")
    made = make(table("cases"), setting)
    assert [file.name for file in made.files] == ["case-hard.svg"]
    assert "Direct: Ra8+" in made.files[0].read_text()


def test_test_files_are_asked_for_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--puzzles"):
        make(table("puzzles"), Setting(tmp_path, tmp_path))
    with pytest.raises(UserError, match="--actions"):
        make(table("futures"), Setting(tmp_path, tmp_path))


def test_a_run_of_another_recipe_is_not_taken_for_the_tables(tmp_path: Path, actions: Path, puzzles: Path) -> None:
    setting = Setting(tmp_path / "runs", tmp_path / "out", actions=actions)
    one = Exhibit("steps", "t", ("actions",), (row("a", "x", Training("good", ("optimiser.steps=5",))),))
    trained(setting.runs / "good")
    recipe = setting.runs / "good" / "recipe.toml"
    recipe.write_text(recipe_text(resolved(one.rows[0].runs[0], setting)))
    assert make(one, setting).results["a"]
    measured_on_more = Setting(**{**setting.__dict__, "puzzles": puzzles})  # which this run may have learnt from
    with pytest.raises(UserError, match=r"good holds a run with another data .* --runs"):
        make(one, measured_on_more)
    recipe.write_text("[model]\nencoding = 'compact'\n")
    with pytest.raises(UserError, match="another model"):
        make(one, setting)


def test_a_recipes_own_held_out_files_stay(tmp_path: Path, actions: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text("[data]\nheld_out = ['mine.csv']\n")
    setting = Setting(tmp_path / "runs", tmp_path / "out", recipe=base, actions=actions)
    assert resolved(Training("a"), setting).data.held_out == ("mine.csv", str(actions))


def test_training_what_is_missing(tmp_path: Path, actions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings: list[tuple[str, int, bool]] = []

    def train(recipe: Any, folder: Path, resume: bool, report: Any) -> None:
        assert recipe.data.held_out == (str(actions),)  # what is measured on is not learnt from
        trainings.append((recipe.name, recipe.optimiser.steps, resume))
        trained(folder, recipe.optimiser.steps)

    monkeypatch.setattr("diffusearch.training.loop.train", train)
    base = tmp_path / "base.toml"
    base.write_text("name = 'base'\n")
    one = Exhibit("steps", "t", ("actions",), (row("a", "x", Training("good", ("optimiser.rate=1e-3",))),))
    setting = Setting(tmp_path / "runs", tmp_path / "out", recipe=base, actions=actions, train=True)
    setting = Setting(**{**setting.__dict__, "settings": ("optimiser.steps=7",)})
    assert make(one, setting).results["a"]["actions"]["accuracy"] == 1.0
    make(one, setting)  # nothing is trained twice
    assert trainings == [("good", 7, True)]
    trained(setting.runs / "good", 6)  # killed before its end
    assert make(one, setting).results
    assert trainings == [("good", 7, True)] * 2


def test_a_run_that_was_killed_is_missing_until_it_goes_on(tmp_path: Path, actions: Path) -> None:
    steps = Setting(tmp_path / "runs", tmp_path / "out", actions=actions, settings=("optimiser.steps=12000",))
    epochs = replace(steps, settings=("optimiser.epochs=3", "optimiser.batch=10", "watch.patience=2"))
    one = Exhibit("steps", "t", ("actions",), (row("a", "x", Training("good")),))
    good = steps.runs / "good"
    for setting, step, facts in ((steps, 100, {}), (steps, 11_999, {}), (epochs, 29, {"records": 100, "worse": 1})):
        trained(good, step, **facts)
        made = make(one, setting)
        assert not made.results
        (command,) = made.missing["a"]
        assert command.startswith("diffusearch train paper-10k")
        assert command.endswith(" --resume")
    for setting, step, facts in (
        (steps, 12_000, {}),
        (epochs, 30, {"records": 100}),
        (epochs, 12, {"records": 100, "worse": 2}),  # patience
    ):
        trained(good, step, **facts)
        assert make(one, setting).results["a"]["actions"]["accuracy"] == 1.0
    (good / "checkpoint.safetensors").unlink()  # weights that were copied, without what --resume needs
    assert folder_of(Training("good"), replace(steps, settings=("optimiser.steps=12",))) == good
    (command,) = make(one, steps).missing["a"]
    assert "--resume" not in command


def test_a_run_waits_for_the_one_that_it_starts_from(
    tmp_path: Path, actions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainings: list[tuple[str, str]] = []

    def train(recipe: Any, folder: Path, *, resume: bool, report: object) -> None:
        trainings.append((recipe.name, recipe.start))
        trained(folder)

    monkeypatch.setattr("diffusearch.training.loop.train", train)
    first = Training("first", recipe="flagship/policy")
    rows = tuple(row(name, "x", Training(name, recipe="flagship/s-a", after=first)) for name in ("good", "second"))
    one = Exhibit("steps", "t", ("actions",), rows)
    base = tmp_path / "base.toml"  # somewhere else than the recipes that come with the project
    base.write_text("name = 'base'\n")
    small = ("optimiser.steps=10",)
    setting = Setting(tmp_path / "runs", tmp_path / "out", recipe=base, actions=actions, settings=small)

    def named() -> list[str]:
        return [command.split()[2] for command in make(one, setting).missing["good"]]

    assert named() == ["flagship/policy", "flagship/s-a"]
    trained(setting.runs / "first", 9)
    assert named() == ["flagship/policy", "flagship/s-a"]
    trained(setting.runs / "first", 10)
    assert named() == ["flagship/s-a"]
    trained(setting.runs / "first", 9)
    make(one, replace(setting, train=True))
    start = str(tmp_path / "runs" / "first")
    assert trainings == [("first", ""), ("good", start), ("second", start)]


def test_packaged_weights_serve_until_trained_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffusearch.weights.packaged", lambda name: tmp_path / "package" / name)
    training = Training("s-a", packaged=True)
    setting = Setting(tmp_path / "runs", tmp_path / "out")
    assert folder_of(training, setting) == tmp_path / "package" / "s-a"
    assert folder_of(training, Setting(tmp_path / "runs", tmp_path / "out", train=True)) is None
    trained(setting.runs / "s-a")
    assert folder_of(training, setting) == setting.runs / "s-a"
    longer = replace(setting, settings=("optimiser.steps=11",))
    assert stage_of(training, longer) is Stage.BEGUN
    assert folder_of(training, longer) is None  # in the middle of it
    (setting.runs / "s-a" / "checkpoint.safetensors").unlink()  # training would begin with the first step
    assert stage_of(training, longer) is Stage.ABSENT
    assert folder_of(training, longer) == tmp_path / "package" / "s-a"
    trained(setting.runs / "s-a")
    (setting.runs / "s-a" / "weights.safetensors").unlink()  # nothing that an agent could load
    assert stage_of(training, setting) is Stage.BEGUN


def test_the_verb(tmp_path: Path, actions: Path) -> None:
    listed = CliRunner().invoke(app, ["reproduce", "list"])
    assert "paradigms" in listed.output
    words = ["reproduce", "training", "--actions", str(actions), "--runs", str(tmp_path), "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "0 of 7 rows measured" in done.output
    assert "--scale" in str(CliRunner().invoke(app, [*words, "--scale", "1k"]).exception)
