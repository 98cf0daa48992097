"""The verbs on the real test files, and on a run that exists: what mocks cannot show."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from diffusearch.agents.build import agent
from diffusearch.cli import app
from diffusearch.evaluation.actions import action_accuracy
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles

DATA = Path(os.environ.get("DIFFUSEARCH_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder at {DATA}: set DIFFUSEARCH_DATA")


@pytest.mark.data
@needs_data
def test_a_random_mover_scores_what_the_labels_say() -> None:
    # their README: a random legal move agrees with the oracle in 6.5 % of such positions
    positions = read_positions(DATA / "labels" / "actions-test.parquet", limit=3000)
    low, high = action_accuracy(agent("random"), positions)["interval"]
    assert low < 0.065 < high
    assert all(position.board().is_valid() for position in positions[:300])


@pytest.mark.data
@needs_data
def test_taking_everything_solves_easy_puzzles_more_often() -> None:
    puzzles = read_puzzles(DATA / "puzzles" / "puzzles-test-10k.csv.zst", limit=400)
    figures = puzzle_accuracy(agent("greedy-material"), puzzles)
    bands = figures["by_rating"]
    assert bands["0400-0599"]["accuracy"] > bands["2400-2599"]["accuracy"]
    assert figures["accuracy_mate_tolerant"] >= figures["accuracy"]
    assert figures["rating"]["interval"][0] < figures["rating"]["estimate"] < figures["rating"]["interval"][1]


@pytest.mark.parametrize("word", ["diffusearch", "s-a", "s-v"])
def test_agents_with_weights_are_measured_with_their_recipe(word: str, tiny_run: Path, tmp_path: Path) -> None:
    labelled = Path(__file__).parents[1] / "fixtures" / "labelled"
    words = ["eval", "actions", "--agent", f"{word}:{tiny_run}", "--data", str(labelled), "--limit", "8", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["n"] == 8
    assert result["recipe"]["name"] == "tiny"
    assert (result["legality"] is not None) == (word == "diffusearch")


def test_an_untrained_future_has_all_its_rows(tiny_run: Path, tmp_path: Path) -> None:
    words = ["eval", "futures", "--agent", f"diffusearch:{tiny_run}?steps=2", "--random", "4", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert [row["step"] for row in result["steps"]] == [0, 1, 2, 3]
    assert result["steps"][0]["valid_action"]["accuracy"] == 1.0  # by the legality mask
    assert result["data_hash"] is None


def test_search_carries_both_recipes(tiny_run: Path, tmp_path: Path) -> None:
    labelled = Path(__file__).parents[1] / "fixtures" / "labelled"
    other = shutil.copytree(tiny_run, tmp_path / "other")
    text = f"mcts:{tiny_run},{other}?simulations=4"
    words = ["eval", "latency", "--agent", text, "--data", str(labelled), "--limit", "2", "--json"]
    result = json.loads(CliRunner().invoke(app, [*words, "--out", str(tmp_path)]).stdout)
    assert {part: recipe["name"] for part, recipe in result["recipe"].items()} == {"policy": "tiny", "value": "tiny"}
    assert result["rows"][0]["nodes"] > 0
