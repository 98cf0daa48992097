"""Tables of the page: figures with intervals, seeds and training time, and the paper's where it has any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.contrasts import RowOutcomes, Spread
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.reproduce.tables import exhibit_table, times_note

EXHIBITS = exhibits_of(LAPTOP)
HALF = np.array([True, False] * 50)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path / "runs", tmp_path, scale=LAPTOP, recipe=LAPTOP.recipe)


@pytest.fixture
def found(setting: Setting) -> Gathered:
    """Nothing measured but S-A in Table 2 with two of its three seeds, and one search's time."""
    it = Gathered(seeds=Spread(0.01, (200, 300)))
    for exhibit in EXHIBITS.values():
        for row in exhibit.rows:
            it.figures[exhibit.name, setting.shown(row.label)] = {}
    key = "main", "S-A, 600 games"
    it.outcomes[key] = RowOutcomes((HALF, HALF), ("s-a",))
    it.training[key] = [60.0, 180.0]
    times = {"median": 54.2, "p10": 49.4, "p90": 57.2}
    entry = {"n": 100, "processor_milliseconds": times}
    it.figures["depth", "mcts, 50 simulations"] = {
        "latency": {**entry, "weights": {"s-a": "9b3485", "s-v": "8664e2"}},
        "tree-depth": {"mean_depth": 3.13},
    }
    it.figures["depth", "future steps 1, separate model"]["latency"] = {**entry, "weights": {"s-asa-h2": "initial"}}
    return it


def cells(page: str, label: str) -> dict[str, str]:
    """A row of a table by its headings."""
    head, _, *lines = page.splitlines()
    (line,) = [one for one in lines if one.startswith(f"| {label} |")]
    return dict(zip(*([cell.strip() for cell in one.strip("|").split(" | ")] for one in (head, line)), strict=True))


def test_a_row_has_interval_seeds_training_time_and_the_papers_figures(found: Gathered, setting: Setting) -> None:
    row = cells(exhibit_table(EXHIBITS["main"], found, setting), "S-A, 600 games")
    assert row["actions %"].startswith("50.0 [40.")
    assert row["actions %"].endswith("] (50.0, 50.0)")
    assert row["seeds"] == "2 of 3"
    assert row["training, minutes"] == "2.0"  # the mean over seeds
    assert (row["paper: Elo"], row["paper: puzzles %"], row["paper: actions %"]) == ("1075", "3.95", "22.1")
    assert (row["puzzles %"], row["Elo"]) == ("not yet", "not yet")


def test_rows_that_do_not_play_or_train_have_dashes(found: Gathered, setting: Setting) -> None:
    page = exhibit_table(EXHIBITS["main"], found, setting)
    assert cells(page, "fair MCTS, tuned")["Elo"] == "-"
    oracle = cells(page, "Stockfish, 100,000 nodes (oracle)")
    assert (oracle["Elo"], oracle["seeds"], oracle["training, minutes"]) == ("-", "-", "-")
    assert "seeds" not in exhibit_table(EXHIBITS["planners"], found, setting)  # the package's weights


def test_a_column_without_a_figure_of_the_papers_is_left_out(found: Gathered, setting: Setting) -> None:
    for name in ("steps", "compute", "data-size"):
        assert "paper" not in exhibit_table(EXHIBITS[name], found, setting)
    assert "paper: actions %" in exhibit_table(EXHIBITS["layers"], found, setting)


def test_times_have_their_spread_and_searches_their_measured_depth(found: Gathered, setting: Setting) -> None:
    row = cells(exhibit_table(EXHIBITS["depth"], found, setting), "mcts, 50 simulations")
    assert row["processor ms a move"] == "54 (49 to 57)"
    assert row["mean depth"] == "3.1"
    others = exhibit_table(EXHIBITS["depth"], found, setting)
    assert cells(others, "mcts, 10 simulations")["mean depth"] == "not yet"
    assert cells(others, "future steps 1, separate model")["mean depth"] == "-"


def test_times_say_which_runs_have_initial_weights(found: Gathered, setting: Setting) -> None:
    note = times_note(EXHIBITS["depth"], found, setting)
    assert "for each of 100 positions every row decides once, in turns" in note
    assert note.endswith("with the initial weights of their recipes are timed `s-asa-h2`.")
    found.runs = {"s-a": {"weights": "9b3485"}, "s-v": {"weights": "of another training"}}
    assert "The times of `s-v` are those of another training" in times_note(EXHIBITS["depth"], found, setting)
    found.runs = {}
    del found.figures["depth", "future steps 1, separate model"]["latency"]
    assert "initial" not in times_note(EXHIBITS["depth"], found, setting)
    assert times_note(EXHIBITS["main"], found, setting) == ""


def test_futures_alone_make_no_table(found: Gathered, setting: Setting) -> None:
    assert exhibit_table(replace(EXHIBITS["main"], metrics=("futures",)), found, setting) == ""
