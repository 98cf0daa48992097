"""What all tests share: one thread for tensors, and a tiny run with random weights.

The run imagines nonsense, but by every step that a trained one takes.
"""

from __future__ import annotations

import os
from pathlib import Path

# Before torch is imported, and for every program that a test starts: the tensors here are tiny, and several threads
# that wait for each other on a busy machine take many times longer than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 2 layers, written as training writes it."""
    folder = tmp_path_factory.mktemp("tiny")
    trunk = {"layers": 2, "width": 32, "heads": 2, "attention": "prefix"}
    model = {"encoding": "compact", "patch": 8, "head": "squares", "root_value": True, "trunk": trunk}
    recipe = recipe_from_dict({"name": "tiny", "model": model})
    with torch.random.fork_rng():  # the network draws its first weights from the global generator
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {})
    return folder
