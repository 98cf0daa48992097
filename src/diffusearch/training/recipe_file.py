"""Recipe files: TOML with a `base`, and `--set` overrides, as plain nested values.

`base = "NAME or FILE"` at the top of a file starts from that recipe: a named one, or a file relative to this one.
The file's own keys then replace those of the base. Tables merge key by key; lists are replaced whole.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.training.building import shown
from diffusearch.training.named_recipes import find_recipe


def read_recipe_file(path: Path, overrides: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a recipe file with its bases merged in; overrides are `dotted.key=value` with a TOML value."""
    chain: list[Path] = []
    layers: list[dict[str, Any]] = []
    place: Path | None = path
    while place is not None:
        if place.resolve() in chain:
            names = " -> ".join(link.name for link in [*chain, place])
            raise UserError(f"the recipe {path} has itself as its base ({names}): remove one `base` line")
        chain.append(place.resolve())
        values = _read(place)
        place = _base(place, values.pop("base", None))
        layers.insert(0, values)
    merged: dict[str, Any] = {}
    for values in layers:
        merged = _merge(merged, values)
    for override in overrides:
        _set(merged, override)
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read the recipe {path}: {error.strerror}") from None
    except RecursionError:
        raise UserError(f"the recipe {path} is nested too deeply: a recipe has at most two levels of tables") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number with thousands of digits
        raise UserError(f"the recipe {path} is no valid TOML: {error}") from None


def _base(path: Path, base: object) -> Path | None:
    """The file that `base` names in the recipe `path`."""
    if base is None:
        return None
    if not isinstance(base, str) or not base:
        raise UserError(f"base must be the name or the file of a recipe, not {shown(base)} (in {path})")
    beside = path.parent / base
    return beside if beside.is_file() else find_recipe(base)


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two nested tables as one; where both have a key that is no table, the value of `above` is taken."""
    out = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _merge(out[key], value) if both else value
    return out


def _set(values: dict[str, Any], override: str) -> None:
    """Apply one `dotted.key=value` in place."""
    key, sign, text = override.partition("=")
    if not sign:
        raise UserError(f"--set takes key=value, not {shown(override)}, e.g. --set optimiser.rate=1e-3")
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is a string
    except (ValueError, RecursionError):
        raise UserError(f"--set {key}: {shown(text)} is no value that a recipe can hold") from None
    place = values
    *tables, last = key.split(".")
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise UserError(f"--set {key}: {table} is no table of the recipe")
    place[last] = value
