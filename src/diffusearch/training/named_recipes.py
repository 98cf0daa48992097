"""The recipes that come with the project, by name: `recipes/` in the repository, inside the package once installed."""

from __future__ import annotations

from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.training.building import did_you_mean

_FOLDERS = (
    Path(__file__).parent / "recipes",  # an installed wheel
    Path(__file__).parents[3] / "recipes",  # a checkout: src/diffusearch/training/named_recipes.py
)


def named_recipes() -> dict[str, Path]:
    """Every recipe that comes with the project: `laptop`, or `flagship/policy` in a subfolder."""
    folder = next((place for place in _FOLDERS if place.is_dir()), None)
    if folder is None:
        return {}
    paths = sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path))  # subfolders last
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def find_recipe(text: str | Path) -> Path:
    """The file of that path, or the recipe of that name."""
    path = Path(text)
    if path.is_file():
        return path
    known, name = named_recipes(), path.as_posix()
    if name not in known:
        hint = did_you_mean(name, known)
        words = f"{hint} Otherwise give" if hint else "give"
        raise UserError(f"there is no recipe {str(text)!r}: {words} a TOML file or one of {', '.join(known)}")
    return known[name]
