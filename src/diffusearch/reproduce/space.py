"""Disk space: refuses, before anything starts, what would not fit."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from diffusearch.errors import UserError

if TYPE_CHECKING:
    from diffusearch.training.recipe import Recipe

ROW_BYTES = 2_000  # of a labelled position with its records
RUN_BYTES = 40_000_000  # of a small run
WEIGHT_BYTES = 40  # of each weight of a large one: checkpoint with moments, averages, best weights, their new copy


def run_bytes(recipe: Recipe) -> int:
    """The space of a run's folder."""
    trunk = recipe.model.trunk
    return max(RUN_BYTES, WEIGHT_BYTES * 12 * trunk.layers * trunk.width**2)


def check_disk(needs: Iterable[tuple[Path, int]], option: str) -> None:
    """Each folder gets so many bytes; folders on one disk share it. `option` chooses the folder that is named."""
    disks: dict[int, tuple[Path, int]] = {}
    for folder, size in needs:
        number = _existing(folder).stat().st_dev
        first, before = disks.get(number, (folder, 0))
        disks[number] = first, before + size
    for folder, needed in disks.values():
        free = shutil.disk_usage(_existing(folder)).free
        if free < needed:
            raise UserError(
                f"{folder} needs about {needed / 1e9:.3g} GB more for labels and runs, and its disk has "
                f"{free / 1e9:.3g} GB free: free some space, or choose another {option}."
            )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())
