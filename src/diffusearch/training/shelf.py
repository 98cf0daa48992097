"""The named recipes that come with the project: `recipes/` in the repository, inside the package once installed."""

from __future__ import annotations

from pathlib import Path

from diffusearch.errors import UserError

_PLACES = (
    Path(__file__).parent / "recipes",  # an installed wheel
    Path(__file__).parents[3] / "recipes",  # a checkout: src/diffusearch/training/shelf.py
)


def named_recipes() -> dict[str, Path]:
    """Every recipe that comes with the project, by its name."""
    folder = next((place for place in _PLACES if place.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}


def find_recipe(text: str | Path) -> Path:
    """A recipe file as given, or the one of that name."""
    path = Path(text)
    if path.is_file():
        return path
    known = named_recipes()
    if str(text) not in known:
        raise UserError(f"there is no recipe {str(text)!r}: give a TOML file or one of {', '.join(known)}")
    return known[str(text)]
