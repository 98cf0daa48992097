"""Training the draft reader: only the reader learns, resumed runs are bit-identical, wrong drafts are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from diffusearch.data import draft_records
from diffusearch.errors import UserError
from diffusearch.files import sha256
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.drafts import NODES
from diffusearch.training import draft_training
from diffusearch.training.checkpoint import load_tensors, save_tensors
from diffusearch.training.draft_training import DraftTraining, open_drafts
from diffusearch.training.loop import train
from diffusearch.training.named_recipes import find_recipe
from diffusearch.training.recipe import Recipe, load_recipe, recipe_from_dict, recipe_text

DRAFTS, WIDTH, COUNT = 2, 16, 48
MODEL = {
    "horizon": 2,  # a draft reader needs a state after the first move
    "encoding": "compact",
    "patch": 8,
    "head": "squares",
    "root_value": True,
    "trunk": {"layers": 1, "width": WIDTH, "heads": 2, "attention": "prefix", "dropout": 0.0},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that drafts."""
    folder = tmp_path_factory.mktemp("base")
    recipe = recipe_from_dict({"name": "base", "model": MODEL})
    torch.manual_seed(0)
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(Denoiser(recipe.model).named_parameters()), {})
    return folder


@pytest.fixture(scope="module")
def drafts(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up drafts in which the second move is right where the first hidden number of its squares is positive."""
    folder = tmp_path_factory.mktemp("drafts")
    facts = {"weights": sha256(base / "weights.safetensors"), "drafts": DRAFTS, "depth": 3}
    draft_records.begin(folder, facts, COUNT)
    rng = np.random.default_rng(0)
    places = Denoiser(recipe_from_dict({"name": "x", "model": MODEL}).model).layout.given_places
    hidden = rng.normal(size=(COUNT, DRAFTS, NODES, places, WIDTH)).astype(np.float16)
    second = rng.random(COUNT) < 0.5
    hidden[:, 1, :, :, 0] = np.where(second, 3.0, -3.0)[:, None, None]
    priors = np.full((COUNT, draft_records.MOVES), draft_records.NO_MOVE, dtype=np.float32)
    priors[:, :3] = np.log([0.5, 0.4, 0.1])
    wins = np.full((COUNT, draft_records.MOVES), np.nan, dtype=np.float32)
    wins[:, 0], wins[:, 1] = 0.5, np.where(second, 0.6, 0.4)
    arrays = {
        "root": rng.normal(size=(COUNT, places, WIDTH)).astype(np.float16),
        "hidden": hidden,
        "root_odds": np.zeros(COUNT, dtype=np.float32),
        "odds": np.zeros((COUNT, DRAFTS, NODES), dtype=np.float32),
        "log_shares": np.full((COUNT, DRAFTS, NODES), -1.0, dtype=np.float32),
        "exists": np.ones((COUNT, DRAFTS, NODES), dtype=bool),
        "over": np.zeros((COUNT, DRAFTS, NODES), dtype=bool),
        "priors": priors,
        "target": second.astype(np.int16),
        "wins": wins,
        "train": np.arange(COUNT) % 6 > 0,
    }
    for number, part in enumerate((slice(0, 20), slice(20, COUNT))):
        draft_records.write_shard(folder, number, {name: array[part] for name, array in arrays.items()})
    draft_records.end(folder, COUNT)
    return folder


@pytest.fixture
def recipe(base: Path, drafts: Path) -> Callable[..., Recipe]:
    def make(steps: int = 40, **loss: float) -> Recipe:
        return recipe_from_dict(
            {
                "name": "reader",
                "start": str(base),
                "model": MODEL | {"draft_reader": True},
                "data": {"sources": [{"path": str(drafts)}]},
                "loss": loss,
                "optimiser": {"kind": "adamw", "rate": 0.01, "batch": 16, "steps": steps, "weight_decay": 0.01},
                "watch": {"validate_every": 20, "checkpoint_every": 10},
            }
        )

    return make


def test_only_the_reader_learns(recipe: Callable[..., Recipe], base: Path, tmp_path: Path) -> None:
    training = train(recipe(), tmp_path / "run")
    assert isinstance(training, DraftTraining)
    before, after = (load_tensors(folder / "weights.safetensors")[0] for folder in (base, tmp_path / "run"))
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert any(name.startswith("draft_reader.") for name in after)


@pytest.mark.slow
def test_the_reader_learns_what_the_squares_say(recipe: Callable[..., Recipe], tmp_path: Path) -> None:
    training = train(recipe(steps=150, soft=0.5), tmp_path / "run")
    assert "first look" in (tmp_path / "run" / "log.csv").read_text()
    assert training.best is not None
    assert training.best > 0.9  # the first look has about half


def test_a_resumed_run_is_the_same(recipe: Callable[..., Recipe], tmp_path: Path) -> None:
    short = recipe(steps=20)
    whole = train(short, tmp_path / "whole")
    half = DraftTraining(short, tmp_path / "parts", whole.mixture.sources, whole.world)
    half.out.mkdir()
    half.start_from(Path(short.start))
    for _ in range(10):
        half.take_step()
    half.save()
    (half.out / "recipe.toml").write_text(recipe_text(short))
    train(short, half.out, resume=True)
    one, other = (load_tensors(folder / "weights.safetensors")[0] for folder in (whole.out, half.out))
    assert all(torch.equal(other[name], tensor) for name, tensor in one.items())


def test_drafts_of_other_weights_are_refused(recipe: Callable[..., Recipe], drafts: Path, tmp_path: Path) -> None:
    facts = drafts / draft_records.FACTS
    kept = facts.read_text()
    try:
        facts.write_text(json.dumps(json.loads(kept) | {"weights": "another"}))
        with pytest.raises(UserError, match="drafted by other weights"):
            train(recipe(), tmp_path / "run")
    finally:
        facts.write_text(kept)


def test_a_model_without_a_reader_is_refused(recipe: Callable[..., Recipe], tmp_path: Path) -> None:
    one = recipe()
    with pytest.raises(UserError, match=r"set model\.draft_reader = true"):
        train(replace(one, model=replace(one.model, draft_reader=False)), tmp_path / "run")


@pytest.mark.parametrize(("name", "value"), [("drafts", 4), ("depth", 2)])
def test_sources_of_different_drafts_are_refused(
    recipe: Callable[..., Recipe], drafts: Path, tmp_path: Path, name: str, value: int
) -> None:
    other = shutil.copytree(drafts, tmp_path / "other")
    facts = json.loads((other / draft_records.FACTS).read_text())
    (other / draft_records.FACTS).write_text(json.dumps(facts | {name: value}))
    one = recipe()
    both = replace(one.data, sources=(*one.data.sources, replace(one.data.sources[0], path=str(other))))
    with pytest.raises(UserError, match=f"other was made with --{name} {value} and .* with --{name} {facts[name]}: "):
        train(replace(one, data=both), tmp_path / "run")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("validation", "labels", "data.validation = 'labels' is not read"),
        ("held_out", ("labels",), r"data.held_out = \['labels'\] is not read"),
        ("ply", 1, "ply = 1 of .* is not read"),
        ("games", 9, "games = 9 of .* is not read"),
        ("bf16", "on", "32 bits, not as bf16 = 'on' says"),
    ],
)
def test_fields_without_an_effect_are_refused(
    recipe: Callable[..., Recipe], tmp_path: Path, field: str, value: object, words: str
) -> None:
    one = recipe()
    if field == "bf16":
        one = replace(one, bf16="on")
    elif field in ("ply", "games"):
        source = replace(one.data.sources[0], **{field: value})  # type: ignore[arg-type]
        one = replace(one, data=replace(one.data, sources=(source,)))
    else:
        one = replace(one, data=replace(one.data, **{field: value}))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=words):
        train(one, tmp_path / "run")


def test_the_recipe_of_the_packaged_reader_has_no_such_field(base: Path, drafts: Path) -> None:
    sources = f"data.sources=[{{path={json.dumps(str(drafts))}}}]"
    recipe = load_recipe(find_recipe(Path("flagship/reader")), (f"start={json.dumps(str(base))}", sources))
    records, validation = open_drafts(recipe)
    assert [len(one) for one in records] == [40]
    assert validation is not None
    assert len(validation) == 8


def test_the_action_loss_is_the_mean_of_known_moves(
    recipe: Callable[..., Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces with different numbers of known moves count by these; a position without one is a miss."""
    training = train(recipe(steps=2), tmp_path / "run")
    assert isinstance(training, DraftTraining)
    (own,) = training.mixture.sources
    arrays = own.take(np.arange(24))
    arrays["target"][[0, 1, 2, 3, 4, 5, 6, 9]] = -1  # of the first piece one is known, of the second seven

    class Rows:
        def __len__(self) -> int:
            return 24

        def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
            return {name: array[rows] for name, array in arrays.items()}

    monkeypatch.setattr(draft_training, "_PIECE", 8)
    with torch.inference_mode():
        training.net.eval()
        logits, _ = training.read(arrays)
        losses = -torch.log_softmax(logits, -1).numpy()
    known = np.flatnonzero(arrays["target"] >= 0)
    target = arrays["target"][known]
    figures = training.validate(Rows(), 24).figures  # type: ignore[arg-type]
    assert figures["action loss"] == pytest.approx(losses[known, target].mean(), rel=1e-5)
    assert figures["accuracy"] == pytest.approx((losses[known].argmin(1) == target).sum() / 24)
    assert figures["first look"] == pytest.approx((target == 0).sum() / 24)
    arrays["target"][:] = -1
    assert training.validate(Rows(), 24).figures == {"accuracy": 0.0, "first look": 0.0}  # type: ignore[arg-type]
