from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.reproduce.driver import Setting, folder_of, make, train_command
from diffusearch.reproduce.exhibit import Exhibit, Row, Training, row
from diffusearch.reproduce.page import write_page

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


def trained(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "weights.safetensors").touch()


def table(*metrics: str) -> Exhibit:
    rows = (
        row("Direct", "x", Training("good")),
        row("Gaussian", "x", Training("bad", ("process.kind=gaussian",))),
        Row("Autoregressive", "y:{absent},{good}", (Training("absent", ("a=1",)), Training("good"))),
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
    assert f"diffusearch train recipes/paper-10k.toml --out {setting.runs}/absent" in page
    assert "--set a=1 --set optimiser.steps=5" in page
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


def test_training_what_is_missing(tmp_path: Path, actions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings: list[tuple[str, int, bool]] = []

    def train(recipe: Any, folder: Path, resume: bool, report: Any) -> None:
        trainings.append((recipe.name, recipe.optimiser.steps, resume))
        (folder / "weights.safetensors").parent.mkdir(parents=True, exist_ok=True)
        (folder / "weights.safetensors").touch()

    monkeypatch.setattr("diffusearch.training.loop.train", train)
    base = tmp_path / "base.toml"
    base.write_text("name = 'base'\n")
    one = Exhibit("steps", "t", ("actions",), (row("a", "x", Training("good", ("optimiser.rate=1e-3",))),))
    setting = Setting(tmp_path / "runs", tmp_path / "out", recipe=base, actions=actions, train=True)
    setting = Setting(**{**setting.__dict__, "settings": ("optimiser.steps=7",)})
    assert make(one, setting).results["a"]["actions"]["accuracy"] == 1.0
    make(one, setting)  # nothing is trained twice
    assert trainings == [("good", 7, False)]


def test_packaged_weights_serve_until_trained_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffusearch.weights.packaged", lambda name: tmp_path / "package" / name)
    training = Training("s-a", packaged=True)
    setting = Setting(tmp_path / "runs", tmp_path / "out")
    assert folder_of(training, setting) == tmp_path / "package" / "s-a"
    assert train_command(training, setting)[2] == str(tmp_path / "package" / "s-a" / "recipe.toml")
    assert folder_of(training, Setting(tmp_path / "runs", tmp_path / "out", train=True)) is None
    trained(setting.runs / "s-a")
    assert folder_of(training, setting) == setting.runs / "s-a"


def test_the_verb(tmp_path: Path, actions: Path) -> None:
    listed = CliRunner().invoke(app, ["reproduce", "list"])
    assert "paradigms" in listed.output
    words = ["reproduce", "training", "--actions", str(actions), "--runs", str(tmp_path), "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "0 of 7 rows measured" in done.output
    assert "--scale" in str(CliRunner().invoke(app, [*words, "--scale", "1k"]).exception)
