from __future__ import annotations

import re
from pathlib import Path

import pytest
from diffusearch.agents.text import cut

from diffusearch.agents.build import PLAYERS
from diffusearch.errors import UserError
from diffusearch.evaluation.paper import paper_tables
from diffusearch.reproduce.driver import Setting, resolved
from diffusearch.reproduce.exhibit import METRICS, Exhibit
from diffusearch.reproduce.registry import EXHIBITS, exhibit

# rows of the paper that no exhibit repeats, with the reason
LEFT_OUT = {"main": "Stockfish 16", "depth": "single model"}


@pytest.mark.parametrize("one", EXHIBITS.values(), ids=list(EXHIBITS))
def test_rows_name_agents_that_exist_and_runs_that_they_use(one: Exhibit) -> None:
    assert set(one.metrics) <= set(METRICS)
    labels = [row.label for row in one.rows]
    assert len(labels) == len(set(labels))
    for row in one.rows:
        assert set(re.findall(r"{(.+?)}", row.agent)) == {training.name for training in row.runs}
        text = cut(row.agent)
        known = {option.name for option in PLAYERS[text.word].options}
        given = text.options if text.argument is None or "=" not in text.argument else {}
        assert set(given) <= known


@pytest.mark.parametrize("one", EXHIBITS.values(), ids=list(EXHIBITS))
def test_every_run_is_a_valid_recipe(one: Exhibit) -> None:
    setting = Setting(Path("runs"), Path("out"))
    direct = {training for row in one.rows for training in row.runs}
    for training in direct | {training.after for training in direct if training.after}:
        recipe = resolved(training, setting)
        assert recipe.name == training.name
        assert bool(recipe.start) == (training.after is not None)


def test_one_name_is_one_run() -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for one in EXHIBITS.values():
        for row in one.rows:
            for training in row.runs:
                if not training.packaged:
                    assert seen.setdefault(training.name, training.settings) == training.settings


@pytest.mark.parametrize("name", [name for name in paper_tables() if name != "futures"])
def test_every_row_of_the_paper_is_repeated(name: str) -> None:
    scales = ("10k", "100k")
    ours = {row.label.format(scale=scale) for row in EXHIBITS[name].rows for scale in scales}
    for label in paper_tables()[name].rows:
        assert label in ours or LEFT_OUT.get(name, "-") in label


def test_an_unknown_name_is_refused_with_the_list() -> None:
    with pytest.raises(UserError, match=r"no exhibit 'tabel'.*paradigms"):
        exhibit("tabel")
