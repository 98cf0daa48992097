"""Recipes: unknown keys refused, resolved and read back, overrides, and every recipe of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.training.recipe import Recipe, load_recipe, recipe_from_dict, recipe_text
from diffusearch.training.named_recipes import find_recipe, named_recipes


def write(folder: Path, text: str) -> Path:
    path = folder / "r.toml"
    path.write_text(text)
    return path


def test_defaults_are_the_papers() -> None:
    recipe = Recipe()
    assert (recipe.model.horizon, recipe.process.timesteps, recipe.model.trunk.layers) == (4, 20, 8)
    assert (recipe.optimiser.kind, recipe.optimiser.rate, recipe.optimiser.batch) == ("adam", 3e-4, 1024)
    assert (recipe.optimiser.epochs, recipe.loss.time_weight) == (200, "linear")


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
        ("speed = 3", "speed is unknown"),
        ("[model]\nwidht = 3", "model.widht is unknown"),
        ("[model.trunk]\nlayer = 3", "model.trunk.layer is unknown"),
        ("seed = 'one'", "seed is int"),
        ("seed = true", "seed is int"),
        ("[optimiser]\nrate = 'fast'", "optimiser.rate is float"),
        ("model = 3", "is a table"),
        ("horizons = 3", "is a list"),
        ("horizons = [1, 1, 1, 1, 1]", "5 shares"),
        ("horizons = [0.0, 0.0]", "above 0"),
        ("bf16 = 'yes'", "bf16"),
        ("[process]\nkind = 'loud'", "loud"),
        ("[process]\ntimesteps = 0", "process.timesteps"),
        ("[loss]\ntime_weight = 'odd'", "odd"),
        ("[optimiser]\nkind = 'sgd'", "sgd"),
        ("[optimiser]\nschedule = 'step'", "step"),
        ("[optimiser]\nbatch = 0", "optimiser.batch"),
        ("[process]\nkind = 'autoregressive'", "causal"),
        ("[process]\nkind = 'gaussian'\n[model]\nparadigm = 's-v'", "cannot learn root values"),
        ("[model]\nhead = 'big'", "big"),
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


def test_the_nearest_horizon() -> None:
    assert recipe_from_dict({}).nearest_horizon == 4
    assert recipe_from_dict({"horizons": [0.0, 0.5, 0.5]}).nearest_horizon == 2
    causal = {"process": {"kind": "autoregressive"}, "model": {"trunk": {"attention": "causal"}}}
    assert recipe_from_dict(causal).nearest_horizon == 1


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
        ("seed=-1", "at least 0"),
        ("threads=-1", "at least 0"),
        ("model.horizon=0", "at least 1"),
        ("model.trunk.layers=0", "at least 1"),
        ("model.trunk.width=-64", "at least 1"),
        ("model.trunk.heads=0", "at least 1"),
        ("model.trunk.dropout=2.0", "from 0 to below 1"),
        ("optimiser.rate=-1.0", "at least 0"),
        ("optimiser.rate=nan", "at least 0"),
        ("optimiser.steps=-1", "at least 0"),
        ("optimiser.warmup=-5", "at least 0"),
        ("optimiser.clip=-1.0", "above 0"),
        ("optimiser.ema=2.0", "from 0 to below 1"),
        ("watch.minutes=-1.0", "at least 0"),
        ("watch.validate_records=0", "at least 1"),
        ("loss.state=-1.0", "at least 0"),
        ("data.tried=2.0", "from 0 to 1"),
        ("data.sources=[{path='x', weight=0.0}]", "above 0"),
        ("data.sources=[{path='x', ply=-1}]", "at least 0"),
    ],
)
def test_numbers_that_nothing_can_be_made_of_are_refused_by_name(setting: str, words: str) -> None:
    name = "data.sources[0]" if "sources" in setting else setting.partition("=")[0]
    with pytest.raises(UserError) as refused:
        load_recipe(find_recipe("debug"), (setting,))
    assert str(refused.value).startswith(name)
    assert words in str(refused.value)


def test_a_mirror_needs_a_turned_board() -> None:
    with pytest.raises(UserError, match=r"data\.mirror = true needs model\.encoding = 'compact'"):
        load_recipe(find_recipe("paper-10k"), ("data.mirror=true",))
