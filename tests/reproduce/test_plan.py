"""Stages of run folders, the commands that train them, and what a plan says that they cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.reproduce.catalogue import exhibit
from diffusearch.reproduce.cost import cost_of, plan_lines, speed_of
from diffusearch.reproduce.exhibits import Exhibit, row
from diffusearch.reproduce.plan import (
    PlannedRun,
    Setting,
    Stage,
    commands,
    folder_of,
    resolved,
    stage_of,
    train_command,
)
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_text

pytestmark = pytest.mark.slow

GOOD = PlannedRun("good")
LABELS = Path(__file__).parents[1] / "fixtures" / "labelled" / "shard-000002.parquet"


def trained(folder: Path, step: int = 10, **more: object) -> None:
    """A run's files after so many steps, with one record an epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"step": step, "seed": 0, "name": folder.name, "best": None, "worse": 0, "records": 1} | more
    for name in ("weights", "checkpoint"):
        save_tensors(folder / f"{name}.safetensors", {"one": torch.zeros(1)}, about)


@pytest.fixture
def ten(tmp_path: Path) -> Setting:
    return Setting(tmp_path / "runs", tmp_path / "out", settings=("optimiser.steps=10",))


def test_a_run_of_another_recipe_is_not_taken(ten: Setting, actions: Path, puzzles: Path) -> None:
    setting = replace(ten, actions=actions)
    trained(setting.runs / "good")
    recipe = setting.runs / "good" / "recipe.toml"
    recipe.write_text(recipe_text(resolved(GOOD, setting)))
    assert stage_of(GOOD, setting) is Stage.FINISHED
    with pytest.raises(UserError, match=r"good holds a run with another data .* --runs"):
        stage_of(GOOD, replace(setting, puzzles=puzzles))  # which this run may have been trained on
    recipe.write_text("[model]\nencoding = 'compact'\n")
    with pytest.raises(UserError, match="another model"):
        stage_of(GOOD, setting)


def test_a_recipes_own_held_out_files_stay(tmp_path: Path, actions: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text("[data]\nheld_out = ['mine.csv']\n")
    setting = Setting(tmp_path / "runs", tmp_path / "out", recipe=base, actions=actions)
    assert resolved(PlannedRun("a"), setting).data.held_out == ("mine.csv", str(actions))


def test_labelled_sets_lie_below_the_given_folder(tmp_path: Path) -> None:
    run = PlannedRun("a", ("data.sources=[{path='{labels}/5k'}]",))
    setting = Setting(tmp_path / "runs", tmp_path / "out", labels=tmp_path / "mine")
    assert [source.path for source in resolved(run, setting).data.sources] == [str(tmp_path / "mine" / "5k")]


def test_a_run_that_was_killed_is_missing_until_it_goes_on(ten: Setting) -> None:
    steps = replace(ten, settings=("optimiser.steps=12000",))
    epochs = replace(ten, settings=("optimiser.epochs=3", "optimiser.batch=10", "watch.patience=2"))
    good = ten.runs / "good"
    for setting, step, facts in ((steps, 100, {}), (steps, 11_999, {}), (epochs, 29, {"records": 100, "worse": 1})):
        trained(good, step, **facts)
        assert stage_of(GOOD, setting) is Stage.BEGUN
        assert folder_of(GOOD, setting) is None
        assert train_command(GOOD, setting)[-1] == "--resume"
    for setting, step, facts in (
        (steps, 12_000, {}),
        (epochs, 30, {"records": 100}),
        (epochs, 12, {"records": 100, "worse": 2}),  # patience
    ):
        trained(good, step, **facts)
        assert folder_of(GOOD, setting) == good
    (good / "checkpoint.safetensors").unlink()  # weights that were copied, without what --resume needs
    assert folder_of(GOOD, replace(steps, settings=("optimiser.steps=12",))) == good
    assert "--resume" not in train_command(GOOD, steps)


def test_a_run_waits_for_the_one_that_it_starts_from(ten: Setting) -> None:
    first = PlannedRun("first", recipe="flagship/policy")
    second = PlannedRun("second", recipe="flagship/s-a", after=first)

    def named() -> list[str]:
        return [command[2] for command in commands(second, ten)]

    assert named() == ["flagship/policy", "flagship/s-a"]
    trained(ten.runs / "first", 9)
    assert named() == ["flagship/policy", "flagship/s-a"]
    trained(ten.runs / "first", 10)
    assert named() == ["flagship/s-a"]
    assert resolved(second, ten).start == str(ten.runs / "first")


def test_packaged_weights_serve_until_trained_anew(ten: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diffusearch.weights.packaged", lambda name: Path("package") / name)
    run = PlannedRun("s-a", packaged="s-a")
    assert folder_of(run, ten) == Path("package") / "s-a"
    assert folder_of(run, replace(ten, train=True)) is None
    trained(ten.runs / "s-a")
    assert folder_of(run, ten) == ten.runs / "s-a"
    longer = replace(ten, settings=("optimiser.steps=11",))
    assert stage_of(run, longer) is Stage.BEGUN
    assert folder_of(run, longer) is None  # in the middle of it
    (ten.runs / "s-a" / "checkpoint.safetensors").unlink()  # training would begin with the first step
    assert stage_of(run, longer) is Stage.ABSENT
    assert folder_of(run, longer) == Path("package") / "s-a"
    trained(ten.runs / "s-a")
    (ten.runs / "s-a" / "weights.safetensors").unlink()  # nothing that an agent could load
    assert stage_of(run, ten) is Stage.BEGUN


def test_a_run_costs_its_record_passes(setting: Setting) -> None:
    recipe = resolved(GOOD, setting)
    cost = cost_of(GOOD, recipe, rate=4.0, setting=setting)
    assert (cost.passes, cost.guessed) == (2 * 8, False)
    assert cost.core_hours == pytest.approx(16 / 4 / 3600)
    in_epochs = replace(setting, settings=("optimiser.steps=0", "optimiser.epochs=2"))
    assert cost_of(GOOD, resolved(GOOD, in_epochs), 1.0, in_epochs).passes == pytest.approx(2 * 305, abs=8)
    absent = replace(in_epochs, settings=(*in_epochs.settings, "data.sources=[{path='nowhere'}]"))
    cost = cost_of(GOOD, resolved(GOOD, absent), 1.0, absent)
    assert cost.guessed
    assert cost.passes == pytest.approx(2 * 659_576, abs=8)


def test_the_calibration_trains_every_kind_of_run(setting: Setting) -> None:
    for changes in (
        (),
        ("model.paradigm=sa-v", "process.kind=direct"),
        ("model.paradigm=s-v", "process.kind=direct"),
        ("process.kind=autoregressive", "model.trunk.attention=causal"),
        ("process.kind=gaussian",),
    ):
        assert speed_of(resolved(PlannedRun("a", changes), setting), seconds=0.0).training > 0


def test_a_plan_names_rows_runs_and_hours(setting: Setting, tmp_path: Path) -> None:
    fresh = replace(setting, runs=tmp_path / "runs")
    one = Exhibit("steps", "Figure 3 (right)", "Steps", ("actions",), (row("a, {scale}", "diffusearch", GOOD),))
    text = "\n".join(plan_lines(one, fresh, seconds=0.0))
    assert "steps: Steps (Figure 3 (right))" in text
    assert "a, 10k: diffusearch:{good}" in text
    assert "good: not begun; 16 record-passes" in text
    assert "training on this machine:" in text
    trained(fresh.runs / "good", 2)
    assert "good: trained" in "\n".join(plan_lines(one, fresh))


def test_the_verb_prints_the_plan_and_writes_nothing(base: Path, tmp_path: Path) -> None:
    words = ["reproduce", "steps", "--plan", "--recipe", str(base), "--runs", str(tmp_path / "runs")]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "12 rows" in done.output
    assert "1 run below" in done.output
    assert not (tmp_path / "out").exists()


def test_help_of_an_exhibit_tells_its_rows_and_cost() -> None:
    told = CliRunner().invoke(app, ["reproduce", "training", "--help"]).output
    assert told.startswith("training: Training methods (Table 5)")
    assert "Gaussian: diffusearch:{gaussian}" in told
    assert "7 runs at 10k games: at most" in told
    assert "Table 5" not in CliRunner().invoke(app, ["reproduce", "--help"]).output


@pytest.mark.parametrize("words", [("--scale", "laptop"), ("--scale=laptop",)])
def test_help_tells_the_cost_of_the_scale(words: tuple[str, ...]) -> None:
    told = CliRunner().invoke(app, ["reproduce", "data-size", *words, "--help"]).output
    assert "S-A, 75 games: s-a:{s-a-75}" in told
    assert "10 runs at 600 games (some at 75 to 1,200): at most 2,048,000 record-passes" in told  # 204,800 each
    wrong = CliRunner().invoke(app, ["reproduce", "data-size", "--scale", "1k", "--help"])
    assert "--scale '1k' is unknown" in str(wrong.exception)


def test_packaged_weights_cost_nothing(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["reproduce", "planners", "--help"]).output
    assert "3 runs in the package: nothing needs to be trained" in told
    assert "GPU-hours" not in told
    planners = Setting(tmp_path / "runs", tmp_path / "out")
    text = "\n".join(plan_lines(exhibit("planners"), planners, seconds=0.0))
    assert "policy: not needed (--train begins with it)" in text
    assert "training on this machine: 0.00 core-hours in all" in text


def test_runs_of_the_data_figure_cost_their_games() -> None:
    setting = Setting(Path("runs"), Path("out"), labels=Path("/nowhere"))
    runs = {run.name: run for run in exhibit("data-size").runs}
    assert "s-asa-10k" not in runs  # the same experiment as s-asa
    passes = {name: cost_of(run, resolved(run, setting), 1.0, setting).passes for name, run in runs.items()}
    assert passes["s-asa"] == pytest.approx(200 * 659_576, rel=1e-4)
    assert passes["s-asa-100k"] == pytest.approx(200 * 6_564_661, rel=1e-4)
    assert passes["s-a-5k"] == pytest.approx(passes["s-a"] / 2, rel=1e-4)


def test_labelled_sets_cost_the_games_that_are_trained_on(setting: Setting) -> None:
    def passes(source: str) -> int:
        change = ("optimiser.steps=0", "optimiser.epochs=1", f"data.sources=[{{path='{LABELS}'{source}}}]")
        own = replace(setting, settings=change)
        return cost_of(GOOD, resolved(GOOD, own), 1.0, own).passes

    assert 0 < passes(", games=1") < passes(", games=2") < passes("")
