"""Making an exhibit with real runs of two training steps: measured, trained, resumed, played, drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.reproduce.driver import make, next_step
from diffusearch.reproduce.exhibits import Exhibit, row
from diffusearch.reproduce.page import write_page
from diffusearch.reproduce.plan import PlannedRun, Setting

pytestmark = pytest.mark.slow

S_A = PlannedRun("plain", ("model.paradigm=s-a", "process.kind=direct"))
DIRECT = PlannedRun("direct", ("process.kind=direct",))
ABSENT = PlannedRun("absent", ("loss.time_weight=constant",))


def table(*metrics: str) -> Exhibit:
    rows = (row("Direct", "direct", DIRECT), row("Without future", "s-a", S_A), row("Gaussian", "diffusearch", ABSENT))
    return Exhibit("training", "Table 5", "Training methods", metrics, rows, reference="Direct")


@pytest.fixture
def trained(setting: Setting) -> Setting:
    """A setting whose runs hold the first two of the table."""
    two = replace(table("actions"), rows=table("actions").rows[:2])
    make(two, replace(setting, out=setting.out / "first", train=True))
    return setting


def test_rows_are_measured_or_come_with_the_command_that_is_missing(trained: Setting) -> None:
    made = make(table("actions", "latency"), trained)
    assert list(made.results) == ["Direct", "Without future"]
    assert made.results["Direct"]["latency"]["milliseconds"]["median"] > 0
    assert list(made.missing) == ["Gaussian"]
    page = write_page(table("actions", "latency"), made, trained).read_text()
    assert "| 20.61 |" in page  # the paper's
    assert "Table 5" in page
    assert "| Gaussian | - | - | 31.91 |" in page
    assert "Actions, Direct minus each other row" in page
    assert f"diffusearch train {trained.recipe} --out {trained.runs}/absent" in page
    assert "--set loss.time_weight=constant" in page
    assert page.count("--out") == 1
    assert (trained.out / "training.png").is_file()
    assert (trained.out / "training-latency.png").is_file()
    assert len(list((trained.out / "results").glob("actions-*.json"))) == 2
    assert [path.name for path in (trained.out / "results").glob("latency-*.json")] == ["latency-training.json"]
    assert "--train" in next_step(table("actions"), trained, made)


def test_a_killed_measurement_goes_on_and_other_weights_begin_anew(trained: Setting) -> None:
    one = replace(table("actions"), rows=table("actions").rows[:1])
    make(one, replace(trained, limit=1))
    again = make(one, trained)
    assert again.results["Direct"]["actions"]["resumed"] == 1
    longer = replace(trained, runs=trained.out / "runs", train=True, settings=("optimiser.steps=3",))
    assert make(one, longer).results["Direct"]["actions"]["resumed"] == 0
    assert len(list((trained.out / "rows").iterdir())) == 2


def test_elo_comes_from_a_tournament_of_the_rows(trained: Setting) -> None:
    made = make(table("elo"), trained)
    assert {label: set(results) for label, results in made.results.items()} == {
        "Direct": {"elo"},
        "Without future": {"elo"},
    }
    assert (trained.out / "tournament" / "games.pgn").is_file()
    assert "tournament/tournament.json" in write_page(table("elo"), made, trained).read_text()


def test_cases_are_drawn(setting: Setting, puzzles: Path, tmp_path: Path) -> None:
    own = replace(setting, puzzles=puzzles, runs=tmp_path / "runs", train=True)  # with the puzzles held out
    made = make(replace(table("cases"), rows=table("cases").rows[1:2]), own)
    assert [file.name for file in made.files] == ["case-hard.svg"]
    assert "Without future: " in made.files[0].read_text()


def test_training_what_is_missing(setting: Setting, tmp_path: Path) -> None:
    one = replace(table("actions"), rows=table("actions").rows[1:2])
    said: list[str] = []
    fresh = replace(setting, runs=tmp_path / "runs", train=True)
    assert make(one, fresh, say=said.append).results["Without future"]["actions"]["n"] == 2
    weights = fresh.runs / "plain" / "weights.safetensors"
    first = weights.stat().st_mtime_ns
    assert sum(line.startswith("diffusearch train") for line in said) == 1
    make(one, fresh, say=said.append)  # nothing is trained twice
    assert weights.stat().st_mtime_ns == first
    longer = replace(fresh, settings=("optimiser.steps=4",))
    make(one, longer, say=said.append)
    (again,) = [line for line in said if line.startswith("diffusearch train")][1:]
    assert again.endswith("--resume")
    assert weights.stat().st_mtime_ns > first


def test_the_verb(tmp_path: Path, actions: Path) -> None:
    listed = CliRunner().invoke(app, ["reproduce", "list"]).output
    for words in ("paradigms", "Table 3", "Figure 4 (right)", "--help"):
        assert words in listed
    words = ["reproduce", "training", "--actions", str(actions), "--runs", str(tmp_path), "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "0 of 7 rows measured" in done.output
    assert "7 rows have no trained run: add --train" in done.output
    assert "--scale" in str(CliRunner().invoke(app, [*words, "--scale", "1k"]).exception)


def test_curves_are_drawn_where_rows_are_points(trained: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("diffusearch.evaluation.charts.curves", lambda *given: drawn.append(given) or b"png")
    rows = tuple(replace(one, series="ours", x=n) for n, one in enumerate(table("actions").rows))
    curve = replace(table("actions"), rows=rows, axis="depth")
    write_page(curve, make(curve, trained), trained)
    ((shares, points, _, axis, _),) = drawn
    assert list(shares) == ["Direct", "Without future"]
    assert points["Gaussian"] == ("ours", 2)  # the paper's figure of a missing row is drawn too
    assert axis == "depth"
