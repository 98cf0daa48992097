"""Recipes: mistakes refused in one sentence, resolved and read back, overrides, and every recipe that ships."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.process import KINDS, make_process
from diffusearch.errors import UserError
from diffusearch.training.named_recipes import find_recipe, named_recipes
from diffusearch.training.recipe import Recipe, differs, load_recipe, recipe_from_dict, recipe_text
from diffusearch.training.recipe_file import read_recipe_file
from diffusearch.training.tables import ProcessConfig


def write(folder: Path, text: str) -> Path:
    path = folder / "r.toml"
    path.write_text(text)
    return path


def test_defaults_are_the_papers() -> None:
    recipe = Recipe()
    assert (recipe.model.horizon, recipe.process.timesteps, recipe.model.trunk.layers) == (4, 20, 8)
    assert (recipe.optimiser.kind, recipe.optimiser.rate, recipe.optimiser.batch) == ("adam", 3e-4, 1024)
    assert (recipe.optimiser.epochs, recipe.loss.time_weight) == (200, "linear")
    assert (recipe.decoding.order, recipe.decoding.steps, recipe.decoding.carry) == ("confidence", 20, "predict")


def test_a_resolved_recipe_is_a_recipe_again(tmp_path: Path) -> None:
    recipe = load_recipe(
        write(tmp_path, 'name = "x"\nhorizons = [0.5, 0.5]\n[model.trunk]\nwidth = 64\n'),
        ("data.sources=[{path='a', weight=2}]", "optimiser.rate=1e-3"),
    )
    assert recipe.data.sources[0].weight == 2.0
    assert load_recipe(write(tmp_path, recipe_text(recipe))) == recipe


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed = 3", "speed is unknown: did you mean seed\\?"),
        ("nonsense = 3", "nonsense is unknown: choose among name, seed"),
        ("[model]\nlayers = 3", r"model.layers is unknown: did you mean model.trunk.layers\?"),
        ("steps = 3", r"steps is unknown: did you mean .*optimiser.steps"),
        ("[model]\nhorzon = 3", r"model.horzon is unknown: did you mean model.horizon\?"),
        ("[model.trunk]\nlayer = 3", r"model.trunk.layer is unknown: did you mean model.trunk.layers\?"),
        ("seed = 'one'", "seed must be a whole number, not 'one'"),
        ("seed = true", "seed must be a whole number, not True"),
        ("name = 3", "name must be text in quotes, not 3"),
        ("[optimiser]\nrate = 'fast'", "optimiser.rate must be a number, not 'fast'"),
        ("[data]\nmirror = 1", "data.mirror must be true or false, not 1"),
        ("model = 3", "model must be a table, not 3"),
        ("horizons = 3", "horizons must be a list, not 3"),
        ("horizons = [1, 1, 1, 1, 1]", "5 shares"),
        ("horizons = [0.0, 0.0]", "above 0"),
        ("horizons = [0.5, -0.5]", r"horizons\[1\] must be from 0 to 1e\+06, not -0.5"),
        ("bf16 = 'yes'", "bf16 = 'yes' is unknown: choose one of auto, on, off"),
        ("[process]\nkind = 'absorbin'", r"process.kind = 'absorbin' is unknown: did you mean absorbing\?"),
        ("[process]\nkind = 'loud'", "process.kind = 'loud' is unknown: choose one of absorbing, direct"),
        ("[process]\nkind = ['absorbing']", "process.kind = .* is unknown"),
        ("[process]\ntimesteps = 0", "process.timesteps must be from 1 to 10,000, not 0"),
        ("[loss]\ntime_weight = 'odd'", "loss.time_weight = 'odd' is unknown"),
        ("[optimiser]\nkind = 'sgd'", "optimiser.kind = 'sgd' is unknown"),
        ("[optimiser]\nschedule = 'cosin'", r"did you mean cosine\?"),
        ("[process]\nkind = 'autoregressive'", "causal"),
        ("[process]\nkind = 'gaussian'\n[model]\nparadigm = 's-v'", "cannot learn root values"),
        ("[process]\nkind = 'gaussian'\n[data]\nrandom_moves = 0.5", "data.random_moves keeps a move clean"),
        ("[model]\nhead = 'big'", "big"),
        ("[decoding]\norder = 'confidenc'", r"decoding.order = 'confidenc' is unknown: did you mean confidence\?"),
        ("[decoding]\nsteps = 0", "decoding.steps must be from 1 to 1,000, not 0"),
        ("[decoding]\nahead = 4", "decoding: ahead = 4 works with cache"),
        ("[decoding]\nfilm = true", "decoding.film is unknown"),
        ("[decoding]\ndrafts = 6", "decoding.drafts = 6 needs model.draft_reader = true"),
        ("[decoding]\ncarry = 'keep'\ncache = true\n[model]\nself_conditioning = true", "self_conditioning = true"),
        ("[decoding]\ncarry = 'keep'\ncache = true\n[model.trunk]\nattention = 'causal'", "causal attention has"),
        ("= 3", "no valid TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load_recipe(write(tmp_path, text))


def test_a_recipe_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load_recipe(tmp_path / "none.toml")
    with pytest.raises(UserError, match="there is no recipe"):
        find_recipe("none")
    with pytest.raises(UserError, match=r"debug.* flagship/policy"):
        find_recipe("policy")
    with pytest.raises(UserError, match=r"did you mean laptop\?"):
        find_recipe("labtop")


def test_recipes_in_subfolders_have_the_folder_in_their_name() -> None:
    assert find_recipe(Path("flagship/policy")).parts[-2:] == ("flagship", "policy.toml")


def test_overrides(tmp_path: Path) -> None:
    path = write(tmp_path, "[model.trunk]\nwidth = 64\n")
    recipe = load_recipe(path, ("model.trunk.width=128", "name=fast", "model.paradigm=s-a", "optimiser.rate=1e-3"))
    assert (recipe.model.trunk.width, recipe.name, recipe.model.paradigm) == (128, "fast", "s-a")
    assert recipe.optimiser.rate == 1e-3
    with pytest.raises(UserError, match="key=value"):
        load_recipe(path, ("model.trunk.width",))
    with pytest.raises(UserError, match="unknown"):
        load_recipe(path, ("model.trunk.wide=1",))
    with pytest.raises(UserError, match="no table"):
        load_recipe(path, ("model.trunk.width.x=1",))


def test_the_horizons_that_are_trained() -> None:
    assert recipe_from_dict({}).trained_horizons == (4,)
    assert recipe_from_dict({"horizons": [0.0, 0.5, 0.5]}).trained_horizons == (2, 3)
    assert recipe_from_dict({"loss": {"root_policy": 1.0}}).trained_horizons == (1, 4)
    causal = {"process": {"kind": "autoregressive"}, "model": {"trunk": {"attention": "causal"}}}
    assert recipe_from_dict(causal).trained_horizons == (1, 2, 3, 4)


def test_the_layout_of_the_shortest_trained_horizon() -> None:
    recipe = recipe_from_dict({"horizons": [0.0, 0.5, 0.5], "model": {"horizon": 4}})
    assert [recipe.trained_layout(at_least).horizon for at_least in (1, 2, 3, 4)] == [2, 2, 3, 4]
    # one object, however it is asked for: back ends recognise it by identity
    assert recipe.trained_layout() is recipe.model.layout.truncated(2)
    judge = recipe_from_dict({"model": {"paradigm": "s-v", "encoding": "compact", "patch": 8, "head": "typed"}})
    assert judge.trained_layout() is judge.model.layout.truncated(1)
    assert judge.trained_layout(2).horizon == 1


@pytest.mark.parametrize("name", named_recipes())
def test_every_recipe_of_the_project_loads(name: str) -> None:
    recipe = load_recipe(find_recipe(name))
    assert recipe.name == name.rpartition("/")[2]
    assert recipe.data.sources


def test_the_papers_recipes_have_the_papers_values() -> None:
    for name in ("paper-10k", "paper-100k"):
        recipe = load_recipe(find_recipe(name))
        assert recipe.model == Recipe().model
        assert recipe.process == Recipe().process
        assert recipe.loss == Recipe().loss
        assert (recipe.optimiser.rate, recipe.optimiser.batch, recipe.optimiser.epochs) == (3e-4, 1024, 200)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("seed=-1", "from 0 to"),
        ("threads=-1", "from 0 to"),
        ("model.horizon=0", "from 1 to"),
        ("model.horizon=100000000", "from 1 to"),
        ("model.head_width=100000000", "from 1 to"),
        ("model.trunk.layers=0", "from 1 to"),
        ("model.trunk.layers=1000000", "from 1 to"),
        ("model.trunk.width=-64", "to 16,384"),
        ("model.trunk.width=1000000", "to 16,384"),
        ("model.trunk.heads=0", "from 1 to"),
        ("model.trunk.dropout=2.0", "at least 0 and below 1"),
        ("process.timesteps=100000000", "from 1 to"),
        ("optimiser.batch=0", "from 1 to"),
        ("optimiser.batch=100000000", "from 1 to"),
        ("optimiser.micro_batches=100000000", "from 1 to"),
        ("optimiser.rate=-1.0", "from 0 to"),
        ("optimiser.rate=nan", "a finite number"),
        ("optimiser.rate=inf", "a finite number"),
        ("optimiser.steps=-1", "from 0 to"),
        ("optimiser.warmup=-5", "from 0 to"),
        ("optimiser.clip=-1.0", "above 0"),
        ("optimiser.ema=2.0", "at least 0 and below 1"),
        ("watch.minutes=-1.0", "from 0 to"),
        ("watch.validate_records=0", "from 1 to"),
        ("loss.state=-1.0", "from 0 to"),
        ("data.random_moves=2.0", "from 0 to 1"),
        ("data.sources=[{path='x', weight=0.0}]", "above 0"),
        ("data.sources=[{path='x', ply=-1}]", "from 0 to"),
        (f"optimiser.rate=1{'0' * 400}", "too large"),
        (f"optimiser.batch=1{'0' * 400}", "from 1 to"),
        (f"optimiser.batch=0x{'f' * 9999}", "from 1 to"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(setting: str, words: str) -> None:
    name = "data.sources[0]" if "sources" in setting else setting.partition("=")[0]
    with pytest.raises(UserError) as refused:
        load_recipe(find_recipe("debug"), (setting,))
    assert str(refused.value).startswith(name)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 200


def test_mirroring_needs_the_compact_encoding() -> None:
    with pytest.raises(UserError, match=r"data\.mirror = true needs model\.encoding = 'compact'"):
        load_recipe(find_recipe("paper-10k"), ("data.mirror=true",))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "absorbing"])
def test_only_absorbing_diffusion_trains_and_reads_an_estimate(kind: str) -> None:
    attention = "causal" if kind == "autoregressive" else "full"
    table = {"process": {"kind": kind}, "model": {"self_conditioning": True, "trunk": {"attention": attention}}}
    with pytest.raises(UserError, match=f"self_conditioning = true needs process.kind = 'absorbing', not '{kind}'"):
        recipe_from_dict(table)
    assert recipe_from_dict(table | {"process": {"kind": "absorbing"}}).model.self_conditioning


@pytest.mark.parametrize(
    "text",
    [
        f"seed = {'[' * 5000}{']' * 5000}",
        f"seed = {'9' * 5000}",
        "[" + ".".join("a" * 3000) + "]\nb = 1",
        f"seed = {'{a=' * 3000}1{'}' * 3000}",
        "seed = '\udcff'",
    ],
)
def test_hostile_files_are_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError) as refused:
        load_recipe(path)
    assert len(str(refused.value)) < 400
    with pytest.raises(UserError):
        load_recipe(find_recipe("debug"), (f"seed={'[' * 5000}{']' * 5000}",))
    with pytest.raises(UserError):
        load_recipe(find_recipe("debug"), (f"seed={'9' * 5000}",))


def test_every_process_of_the_recipes_can_be_made() -> None:
    for kind in get_args(get_type_hints(ProcessConfig)["kind"]):
        assert make_process(kind, 3).timesteps >= 1


def test_a_run_owns_its_decoding(tmp_path: Path) -> None:
    recipe = recipe_from_dict({"decoding": {"order": "margin", "steps": 5, "stop_confidence": 0.9}})
    assert recipe.decoding == Decoding(order="margin", steps=5, stop_confidence=0.9)
    kept = tomllib.loads(recipe_text(recipe))["decoding"]
    assert (kept["order"], kept["steps"], kept["stop_confidence"]) == ("margin", 5, 0.9)
    assert not {"film", "line"} & kept.keys()  # wishes of a call
    (tmp_path / "recipe.toml").write_text(recipe_text(recipe))
    assert load_recipe(tmp_path / "recipe.toml") == recipe
    assert differs(recipe_from_dict({}), tmp_path) is None  # the same training may be decoded in another way


def test_the_recipes_of_models_write_their_decoding() -> None:
    for name in ("laptop", "paper-10k", "flagship/diffusearch", "flagship/s-a"):
        assert "order" in read_recipe_file(find_recipe(name))["decoding"], name
