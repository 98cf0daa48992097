"""A tiny run with a draft reader, and back ends and networks that count what they are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text


def tiny(**model: Any) -> dict[str, Any]:
    trunk = {"layers": 1, "width": 16, "heads": 2, "attention": "prefix"}
    own = {"horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "root_value": True, "trunk": trunk}
    return {"name": "tiny", "model": own | model, "horizons": [0.5, 0.5]}


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained run without a reader."""
    return write_run(tmp_path_factory.mktemp("tiny"), tiny())


def write_run(folder: Path, table: dict[str, Any]) -> Path:
    recipe = recipe_from_dict(table)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {})
    return folder


@pytest.fixture(scope="session")
def reading_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An untrained run with a fresh reader: the rule."""
    return Run.load(write_run(tmp_path_factory.mktemp("reading"), tiny(draft_reader=True)))
