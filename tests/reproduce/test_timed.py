"""The times of an exhibit as one job: what it needs, what its digest says, and initial weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from diffusearch.agents.build import agent as build
from diffusearch.errors import UserError
from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.exhibits import Exhibit, row
from diffusearch.reproduce.initial import write_initial
from diffusearch.reproduce.jobs import MeasureJob, measure_jobs
from diffusearch.reproduce.kept import networks
from diffusearch.reproduce.plan import PlannedRun, Setting
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.reproduce.timed import INITIAL, TimeJob
from diffusearch.training.recipe import load_recipe

DEPTH = exhibits_of(LAPTOP)["depth"]
LABELS = "data.sources=[{path='{labels}/oracle'}]"  # nothing is read of it: no run is trained
ABSENT, OTHER = PlannedRun("absent", (LABELS,)), PlannedRun("other", (LABELS, "model.horizon=2"))
TABLE = Exhibit(
    "depth",
    "Table 6",
    "Latency",
    ("latency",),
    (row("four", "diffusearch", ABSENT, "steps=3"), row("two", "diffusearch", OTHER, "steps=2")),
)


@pytest.fixture
def laptop(tmp_path: Path, actions: Path) -> Setting:
    return Setting(tmp_path / "runs", tmp_path / "out", scale=LAPTOP, recipe=LAPTOP.recipe, actions=actions, limit=2000)


def test_only_searches_need_their_runs(laptop: Setting) -> None:
    job = TimeJob(DEPTH, laptop)
    assert [run.name for run in job.runs] == ["s-a", "s-v"]
    assert not job.possible()
    with pytest.raises(UserError, match=r"latency-depth times searches, .*: train s-a, s-v first"):
        job()
    assert TimeJob(TABLE, laptop).possible()


def test_rows_that_search_have_a_measured_depth_of_their_own(laptop: Setting) -> None:
    jobs = measure_jobs({"depth": DEPTH}, laptop)
    assert [job.key for job in jobs if job.metric == "latency"] == ["latency-depth"]
    depths = [job for job in jobs if job.metric == "tree-depth"]
    assert len(depths) == 2 * len(LAPTOP.simulations)
    assert all(job.runs[0].name == "s-a" for job in depths)


def test_the_digest_is_of_method_agents_recipes_and_positions(laptop: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    first = TimeJob(TABLE, laptop).digest()
    assert TimeJob(TABLE, replace(laptop, out=laptop.out / "elsewhere", limit=100)).digest() == first
    assert TimeJob(replace(TABLE, title="other words"), laptop).digest() == first
    changed = [
        TimeJob(replace(TABLE, rows=TABLE.rows[:1]), laptop),
        TimeJob(replace(TABLE, rows=TABLE.rows[::-1]), laptop),
        TimeJob(replace(TABLE, rows=(row("four", "diffusearch", ABSENT, "steps=4"), TABLE.rows[1])), laptop),
        TimeJob(TABLE, replace(laptop, settings=("model.trunk.layers=1",))),
        TimeJob(TABLE, replace(laptop, limit=50)),
        TimeJob(TABLE, replace(laptop, skip_actions=1)),
    ]
    digests = [job.digest() for job in changed]
    monkeypatch.setattr("diffusearch.reproduce.timed.METHOD", "by the clock")
    assert len({first, TimeJob(TABLE, laptop).digest(), *digests}) == 2 + len(changed)


@pytest.mark.slow
def test_runs_that_are_not_trained_are_timed_with_initial_weights(setting: Setting) -> None:
    job = TimeJob(TABLE, setting)
    assert (job.done(), job.entries()) == (False, {})
    done = job()
    assert (done.kind, "2 rows timed on 2 positions" in done.words) == ("measuring", True)
    assert job.done()
    first, second = job.entries().values()
    assert (first["agent"], first["weights"]) == ("diffusearch:absent?steps=3", {"absent": INITIAL})
    assert (first["n"], first["nodes"], second["nodes"]) == (2, 3.0, 2.0)
    assert second["processor_milliseconds"]["median"] > 0
    assert "accuracy" not in first  # it would be that of a network that learned nothing
    assert str(setting.out) not in job.result.read_text()
    assert networks(setting.results) == {}
    assert not (setting.runs / "absent").exists()
    assert job().processor_seconds == 0.0  # it is not timed twice


@pytest.mark.slow
def test_initial_weights_are_those_of_the_recipes_seed(setting: Setting) -> None:
    before = torch.get_rng_state()
    folder = write_initial(ABSENT, setting)
    assert torch.equal(torch.get_rng_state(), before)
    first = (folder / "weights.safetensors").read_bytes()
    assert (write_initial(ABSENT, setting) / "weights.safetensors").read_bytes() == first
    other = write_initial(replace(ABSENT, settings=(LABELS, "seed=1")), setting)
    assert (other / "weights.safetensors").read_bytes() != first
    assert load_recipe(folder / "recipe.toml").name == "absent"
    with build(f"diffusearch:{folder}?steps=2") as player:
        assert player.provenance["weights"]


@pytest.mark.slow
def test_the_depth_of_a_row_without_a_tree_cannot_be_measured(setting: Setting) -> None:
    job = MeasureJob(row("joint", "diffusearch", ABSENT), "tree-depth", replace(setting, runs=setting.out / "initial"))
    write_initial(ABSENT, setting)
    with pytest.raises(UserError, match="grows no tree"):
        job()
