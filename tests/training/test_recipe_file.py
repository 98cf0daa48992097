"""`base` in recipe files: what is merged, where it is found, and that a run's recipe has none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.training.named_recipes import find_recipe
from diffusearch.training.recipe import load_recipe, recipe_text
from diffusearch.training.recipe_file import read_recipe_file


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_tables_merge_and_lists_are_replaced(tmp_path: Path) -> None:
    write(
        tmp_path / "below.toml",
        "seed = 5\nhorizons = [0.5, 0.5]\n"
        "[model.trunk]\nwidth = 64\nlayers = 3\n[data]\nsources = [{path='a'}, {path='b'}]\n",
    )
    path = write(
        tmp_path / "sub" / "above.toml",
        "base = '../below.toml'\nhorizons = [1.0]\n[model.trunk]\nlayers = 4\n[data]\nsources = [{path='c'}]\n",
    )
    recipe = load_recipe(path, ("seed=6",))
    assert (recipe.seed, recipe.horizons) == (6, (1.0,))
    assert (recipe.model.trunk.width, recipe.model.trunk.layers) == (64, 4)
    assert [source.path for source in recipe.data.sources] == ["c"]
    text = recipe_text(recipe)
    assert "base" not in tomllib.loads(text)
    assert load_recipe(write(tmp_path / "elsewhere" / "recipe.toml", text)) == recipe


def test_a_base_is_a_name_or_a_file_beside(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml", "base = 'flagship/policy'\n")
    assert load_recipe(path) == load_recipe(find_recipe("flagship/policy"))
    write(tmp_path / "laptop", "seed = 77\n")  # a file beside the recipe comes before a named recipe
    assert load_recipe(write(tmp_path / "other.toml", "base = 'laptop'\n")).seed == 77


def test_bases_of_bases(tmp_path: Path) -> None:
    write(tmp_path / "a.toml", "seed = 1\nthreads = 1\nname = 'a'\n")
    write(tmp_path / "b.toml", "base = 'a.toml'\nseed = 2\nthreads = 2\n")
    recipe = load_recipe(write(tmp_path / "c.toml", "base = 'b.toml'\nseed = 3\n"))
    assert (recipe.name, recipe.threads, recipe.seed) == ("a", 2, 3)


def test_circles_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", "base = 'sub/b.toml'\n")
    write(tmp_path / "sub" / "b.toml", "base = '../a.toml'\n")
    with pytest.raises(UserError, match=r"has itself as its base \(a.toml -> b.toml -> a.toml\)"):
        load_recipe(path)
    with pytest.raises(UserError, match="has itself as its base"):
        load_recipe(write(tmp_path / "own.toml", "base = 'own.toml'\n"))


@pytest.mark.parametrize(
    ("base", "words"),
    [("3", "base must be the name or the file"), ("''", "base must be"), ("'labtop'", r"did you mean laptop\?")],
)
def test_bases_that_are_none(tmp_path: Path, base: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load_recipe(write(tmp_path / "r.toml", f"base = {base}\n"))


def test_a_base_is_chosen_in_the_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "r.toml", "seed = 1\n")
    assert read_recipe_file(path) == {"seed": 1}
    with pytest.raises(UserError, match="base is unknown"):
        load_recipe(path, ("base=laptop",))


def test_the_larger_run_of_the_paper_differs_in_its_data_only() -> None:
    small, large = (read_recipe_file(find_recipe(f"paper-{size}")) for size in ("10k", "100k"))
    assert {key for key in small if small[key] != large[key]} == {"name", "data"}
