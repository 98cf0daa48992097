"""Digests of what a measurement rests on: recipe, labelled sets, test file. They are the same on every machine.

A result is of today's experiment if its digest is (jobs.py). Paths, dates and folders are not part of it, and neither
is a field of the recipe that has its default: a version with one field more gives the same digest.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from diffusearch.data.labelled import labelled_files, read_labelled
from diffusearch.data.manifest import read_manifest
from diffusearch.evaluation import record
from diffusearch.files import sha256
from diffusearch.reproduce.labels import LabelSet, label_sets
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.training.recipe import Recipe

SHORT = 16  # hexadecimal digits of a digest in a result
Stamps = tuple[tuple[Path, int, int], ...]  # files with time and size
UNSAID = ("name", "threads", "cache", "checkpoint_every")  # fields of a recipe that change no weights


def digest(value: Any) -> str:
    """The digest of plain values."""
    return record.digest(value, SHORT)


@cache
def recipe_digest(run: PlannedRun, setting: Setting) -> str:
    """What a run is trained by: its recipe, with the options of the labelled sets and the test files for their paths.

    Of a run of the package it is the digest of the weights.
    """
    if run.packaged:
        from diffusearch.weights import packaged

        return sha256(packaged(run.packaged) / "weights.safetensors")[:SHORT]
    recipe = resolved(run, setting)
    said = _changed(asdict(recipe), asdict(Recipe()))
    sets = {one.name: one for one in label_sets(setting.scale, setting.own_test)}
    labelled = [
        [set_digest(sets[Path(source.path).name], setting), source.games, source.ply, source.weight]
        for source in recipe.data.sources
    ]
    held_out = sorted(test_digest(Path(path), setting) for path in recipe.data.held_out)
    data = said.pop("data", {})
    others = {name: value for name, value in data.items() if name not in ("sources", "held_out")}
    return digest([said, labelled, held_out, others])


def _changed(values: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """The fields that have not their default."""
    out = {}
    for name, value in values.items():
        if name in UNSAID:
            continue
        if isinstance(value, dict):
            value = _changed(value, usual[name])
            if value:
                out[name] = value
        elif value != usual[name]:
            out[name] = value
    return out


def set_digest(one: LabelSet, setting: Setting) -> str:
    """What a labelled set is made from and by. The engine is not part of it: `content_digest` tells its labels."""
    scale, pgn = setting.scale, setting.pgn
    return digest([asdict(one), scale.per_game, scale.hash_mb, file_digest(pgn) if pgn else ""])


def test_digest(path: Path, setting: Setting) -> str:
    """The digest of a test file; of test positions that are labelled here, that of their labelling."""
    own = [one for one in label_sets(setting.scale, setting.own_test) if setting.labels / one.name == path]
    return set_digest(own[0], setting) if own else file_digest(path)


def file_digest(path: Path) -> str:
    """The digest of a file's bytes, or of those of a folder's Parquet files; empty where nothing is."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return _bytes_digest(_stamps(files)) if path.exists() else ""


@cache
def _bytes_digest(files: Stamps) -> str:
    return record.data_hash([path for path, _, _ in files])[:SHORT]


def content_digest(folder: Path) -> str:
    """The digest of the labels of a set that is complete, whatever program wrote its files; else empty."""
    manifest = read_manifest(folder)
    return _content_digest(_stamps(labelled_files(folder))) if manifest and manifest.complete else ""


@cache
def _content_digest(files: Stamps) -> str:
    found = hashlib.sha256()
    for path, _, _ in files:
        for row in read_labelled(path, failed=True):
            found.update(json.dumps(row, sort_keys=True).encode())
    return found.hexdigest()[:SHORT]


def _stamps(files: list[Path]) -> Stamps:
    """Files as keys of a cache: what was read once is read again after a change."""
    return tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
