"""The exhibit `flagship` trained anew, small: policy, denoiser, drafts, draft reader; what is measured drafts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diffusearch.data.draft_records import DraftRecords
from diffusearch.drafts import recording
from diffusearch.errors import UserError
from diffusearch.reproduce.cost import _write_games, plan_lines
from diffusearch.reproduce.driver import make
from diffusearch.reproduce.packaged import FLAGSHIP, READER
from diffusearch.reproduce.plan import Setting, commands, folder_of
from diffusearch.training.named_recipes import find_recipe
from diffusearch.training.recipe import Recipe, load_recipe
from diffusearch.weights import packaged

pytestmark = pytest.mark.slow

DIFFUSEARCH = replace(FLAGSHIP, metrics=("actions",), rows=FLAGSHIP.rows[:1])
SMALL = (
    *("model.trunk.layers=1", "model.trunk.width=16", "model.trunk.heads=2", "model.head_width=8"),
    *("model.feature_width=8", "threads=1", "optimiser.steps=2", "optimiser.batch=12", "optimiser.micro_batches=1"),
    "watch.validate_records=4",
)
TRAINED = ("data/labels", "data/puzzles", "data/engine-games")
DRAFTED = ("data/reader", "data/reader-puzzles")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, actions: Path) -> Setting:
    """A folder with the data that the recipes name: random games, those to draft with numbers of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recording, "SHARD", 4)
    games = tmp_path / "games.parquet"
    _write_games(games, 6, count=16)
    table = pq.read_table(games)
    for name in (*TRAINED, *DRAFTED):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        pool = table.schema.get_field_index("pool")
        pq.write_table(table.set_column(pool, "pool", pa.array([name] * 16)), folder / "shard-000000.parquet")
    return Setting(Path("runs"), tmp_path / "out", settings=SMALL, actions=actions, limit=2, train=True)


def said_verbs(lines: list[str]) -> list[tuple[str, str]]:
    """What was trained and drafted, in order: (verb, its run or recipe)."""
    return [(words[1], words[2]) for line in lines if (words := line.split())[0] == "diffusearch"]


def test_the_agent_that_is_trained_reads_its_drafts(here: Setting, calls: Any) -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        calls.say(line)

    result = make(DIFFUSEARCH, here, say).results["DiffuSearch"]["actions"]
    assert said_verbs(said) == [
        ("train", "flagship/policy"),
        ("train", "flagship/diffusearch"),
        ("draft", "runs/diffusearch"),
        ("draft", "runs/diffusearch"),
        ("train", "flagship/reader"),
    ]
    # a root, and 6 first moves with lines of 3 plies; joint denoising of 4 plies asks 8 times
    assert sum(records for records, _ in calls.seen["DiffuSearch"]) > 2 * 15
    assert result["evaluations"] > 15
    assert len(DraftRecords(here.runs / "drafts-games").train) == 16


def test_a_killed_drafting_goes_on(here: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    original = recording._arrays

    def killed(*given: Any) -> Any:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(len(given[2]))
        return original(*given)

    monkeypatch.setattr(recording, "_arrays", killed)
    with pytest.raises(KeyboardInterrupt):
        make(DIFFUSEARCH, here)
    first = here.runs / "drafts-games" / "shard-000000" / "root.npy"
    before = first.stat().st_mtime_ns
    monkeypatch.setattr(recording, "_arrays", original)
    said: list[str] = []
    make(DIFFUSEARCH, here, said.append)
    assert [verb for verb, _ in said_verbs(said)] == ["draft", "draft", "train"]
    assert first.stat().st_mtime_ns == before


def test_without_training_the_packaged_weights_serve(here: Setting) -> None:
    packaged_only = replace(here, train=False)
    assert folder_of(READER, packaged_only) == packaged("diffusearch")
    plan = "\n".join(plan_lines(DIFFUSEARCH, packaged_only, seconds=0.0))
    assert "reader: weights of the package" in plan
    assert "policy: not needed" in plan
    assert "diffusearch: not needed" in plan


def test_the_plan_says_what_is_drafted(here: Setting) -> None:
    plan = "\n".join(plan_lines(DIFFUSEARCH, here, seconds=0.0))
    assert "policy: not begun; 24 record-passes" in plan
    assert "reader: not begun; 12,500 positions to draft, 24 record-passes; not in the sum" in plan


def test_the_commands_that_train_it_draft_first(here: Setting) -> None:
    found = [words[1:3] for words in commands(READER, here)]
    assert found == [
        ["train", "flagship/policy"],
        ["train", "flagship/diffusearch"],
        ["draft", "runs/diffusearch"],
        ["draft", "runs/diffusearch"],
        ["train", "flagship/reader"],
    ]


def test_what_a_reader_cannot_learn_from_is_refused_before_any_training(here: Setting) -> None:
    with pytest.raises(UserError, match=r"data/reader has 16 of the positions of data/reader,.* --exclude"):
        make(DIFFUSEARCH, replace(here, actions=Path("data/reader")))
    Path("data/reader").rename("elsewhere")
    with pytest.raises(UserError, match=r"Run reader needs data/reader, which does not exist"):
        make(DIFFUSEARCH, here)
    assert not here.runs.exists()


@pytest.mark.parametrize(("name", "recipe"), [("diffusearch", "diffusearch-end"), ("s-a", "s-a-further")])
def test_recipes_of_the_last_stage_are_those_of_the_packaged_weights(name: str, recipe: str) -> None:
    theirs, ours = load_recipe(packaged(name) / "recipe.toml"), load_recipe(find_recipe(f"flagship/{recipe}"))
    assert ours.model == replace(theirs.model, draft_reader=False)
    assert ours.decoding == replace(theirs.decoding, drafts=0)
    assert (ours.horizons, ours.process, ours.loss) == (theirs.horizons, theirs.process, theirs.loss)
    assert ours.optimiser == theirs.optimiser
    for one in ("mirror", "random_moves"):
        assert getattr(ours.data, one) == getattr(theirs.data, one)

    def shares(recipe: Recipe) -> list[tuple[float, int, int]]:
        return [(source.weight, source.ply, source.games) for source in recipe.data.sources]

    assert shares(ours) == shares(theirs)
