from __future__ import annotations

import re
from pathlib import Path

import pytest

from diffusearch.agents.build import KINDS
from diffusearch.agents.spec import AgentSpec
from diffusearch.errors import UserError
from diffusearch.evaluation.paper import paper_tables
from diffusearch.reproduce.catalogue import EXHIBITS, exhibit, exhibits_of
from diffusearch.reproduce.exhibits import METRICS, Exhibit
from diffusearch.reproduce.jobs import FIRST, ordered_runs, seed_of
from diffusearch.reproduce.plan import Setting, resolved
from diffusearch.reproduce.scales import SCALES

# rows of the paper that no exhibit repeats: the oracle here has another limit and another label
LEFT_OUT = {"main": "Stockfish 16"}


@pytest.mark.parametrize("one", EXHIBITS.values(), ids=list(EXHIBITS))
def test_rows_name_agents_that_exist_and_runs_that_they_use(one: Exhibit) -> None:
    assert set(one.metrics) <= set(METRICS)
    labels = [row.label for row in one.rows]
    assert len(labels) == len(set(labels))
    for row in one.rows:
        assert set(re.findall(r"{(.+?)}", row.agent)) == {training.name for training in row.runs}
        spec = AgentSpec.parse(row.agent)
        assert set(spec.options) <= {option.name for option in KINDS[spec.word].options}


@pytest.mark.parametrize("one", EXHIBITS.values(), ids=list(EXHIBITS))
def test_every_run_is_a_valid_recipe(one: Exhibit) -> None:
    setting = Setting(Path("runs"), Path("out"))
    for run in one.runs:
        recipe = resolved(run, setting)
        assert recipe.name == run.name
        assert bool(recipe.start) == (run.after is not None)


@pytest.mark.parametrize("one", [one for name, one in EXHIBITS.items() if name != "planners"], ids=lambda one: one.name)
def test_diffusion_rows_leave_the_decoding_to_the_run(one: Exhibit) -> None:
    """Only `steps` chooses steps and order, only the single model a horizon, only two exhibits other rules."""
    for row in one.rows:
        if row.agent.startswith("diffusearch"):
            wanted = {"steps", "order"} if one.name == "steps" else set()
            wanted |= {"horizon"} if "single model" in row.label else set()
            options = set(AgentSpec.parse(row.agent).options)
            rules = {"legal", "carry"} if one.name in ("decoding", "futures") else set()
            assert wanted <= options <= wanted | rules


@pytest.mark.parametrize("one", EXHIBITS.values(), ids=list(EXHIBITS))
def test_references_and_curves(one: Exhibit) -> None:
    labels = [row.label for row in one.rows]
    assert not one.reference or one.reference in labels
    assert bool(one.axis) == any(row.series for row in one.rows)
    points = [(row.series, row.x) for row in one.rows if row.series]
    assert len(points) == len(set(points))


def test_one_name_is_one_run() -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for one in EXHIBITS.values():
        for run in one.runs:
            if not run.packaged:
                assert seen.setdefault(run.name, run.settings) == run.settings


def test_every_row_has_a_run_before_another_has_its_second() -> None:
    seeds = [seed_of(run) for run in ordered_runs(exhibits_of(SCALES["laptop"])) if run.name not in FIRST]
    assert set(seeds) == {0, 1, 2}
    assert seeds == sorted(seeds)


def test_baselines_are_causal_and_train_until_they_converge() -> None:
    setting = Setting(Path("runs"), Path("out"))
    for run in exhibit("paradigms").runs:
        recipe = resolved(run, setting)
        baseline = recipe.process.kind in ("direct", "autoregressive")
        assert (recipe.model.trunk.attention == "causal") == baseline
        assert (recipe.watch.patience > 0) == baseline


@pytest.mark.parametrize("name", paper_tables())
def test_places_are_the_papers(name: str) -> None:
    assert paper_tables()[name].place.split(" and ")[0].split(" (")[0] in EXHIBITS[name].place


@pytest.mark.parametrize("name", [name for name in paper_tables() if name != "futures"])
def test_every_row_of_the_paper_is_repeated(name: str) -> None:
    scales = ("10k", "100k")
    ours = {row.label.format(scale=scale) for row in EXHIBITS[name].rows for scale in scales}
    for label in paper_tables()[name].rows:
        assert label in ours or LEFT_OUT.get(name, "-") in label


def test_an_unknown_name_is_refused_with_the_list() -> None:
    with pytest.raises(UserError, match=r"no exhibit 'tabel'.*paradigms"):
        exhibit("tabel")
