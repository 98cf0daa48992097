"""The records that a recipe names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diffusearch.data.records import Records
from diffusearch.errors import UserError
from diffusearch.training.recipe import Recipe


def open_sources(recipe: Recipe, out: Path, report: Callable[[str], None]) -> tuple[list[Records], Records | None]:
    """All sources of a recipe, and its validation records."""
    if not recipe.data.sources:
        raise UserError(f"the recipe {recipe.name!r} names no data: give data.sources a path")
    records = [Records(source.path) for source in recipe.data.sources]
    for one in records:
        if len(one) == 0:
            raise UserError(f"{one.folder} holds no record")
        if one.horizon < recipe.model.horizon:
            raise UserError(f"{one.folder} has horizon {one.horizon}, the model needs {recipe.model.horizon}: label anew")
    validation = Records(recipe.data.validation) if recipe.data.validation else None
    return records, validation
