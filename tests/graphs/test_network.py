"""The graphs compute what torch computes, for networks of every kind; and which runs can have graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from diffusearch.errors import UserError
from diffusearch.graphs.files import write_graphs
from diffusearch.graphs.network import graphs
from diffusearch.graphs.weights_file import tensor_places
from diffusearch.inference.agreement import agreement
from diffusearch.inference.onnx_backend import OnnxBackend
from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import load_recipe, recipe_from_dict, recipe_text

COMPACT = {"encoding": "compact", "patch": 8, "head": "squares", "head_width": 8, "horizon": 3}
RESIDUAL = COMPACT | {"residual_state": True, "root_value": True}
FEATURES = {"board_features": True, "feature_width": 4}


def written(folder: Path, model: dict[str, Any], half: bool = False, **recipe: Any) -> Path:
    """A run folder with weights from a seed; nothing in them starts without effect."""
    trunk = {"layers": 2, "width": 16, "heads": 2, "attention": "prefix"} | model.pop("trunk", {})
    made = recipe_from_dict({"name": "tiny", "model": model | {"trunk": trunk}} | recipe)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = Denoiser(made.model)
        weights = {name: p.detach() + 0.1 * torch.randn(p.shape) for name, p in net.named_parameters()}
    kind = torch.float16 if half else torch.float32
    save_tensors(folder / "weights.safetensors", {name: w.to(kind) for name, w in weights.items()}, {})
    (folder / "recipe.toml").write_text(recipe_text(made))
    return folder


@pytest.mark.parametrize(
    "model",
    [
        {},  # the paper's: 77 characters, tied heads
        {"trunk": {"attention": "full", "positions": "rope"}, "root_value": True},
        COMPACT | {"trunk": {"attention": "full"}},
        COMPACT | {"trunk": {"positions": "rope"}, "head": "typed"},
        RESIDUAL | FEATURES,
        RESIDUAL | {"copy_gates": "after-move"},
        RESIDUAL | {"draft_reader": True},
        COMPACT | {"paradigm": "s-a", "horizon": 1, "root_value": True} | FEATURES,
        COMPACT | {"paradigm": "s-avsav", "patch": 4},
        COMPACT | {"paradigm": "s-ass", "patch": 1},
        {"paradigm": "s-v", "horizon": 1},
    ],
    ids=str,
)
def test_graphs_agree_with_torch(tmp_path: Path, model: dict[str, Any]) -> None:
    horizons = [1.0] * model.get("horizon", 4) if model.get("paradigm") is None else []
    folder = written(tmp_path, dict(model), horizons=horizons)
    write_graphs(folder)
    backend = Run.load(folder, "onnx").backend
    assert isinstance(backend, OnnxBackend)
    found = agreement(Run.load(folder, "torch"), backend, 8)
    assert found.difference < 1e-3, found
    assert found.same > 0.999


def test_other_weights_do_not_agree(tmp_path: Path) -> None:
    one, two = (tmp_path / name for name in ("one", "two"))
    for folder in (one, two):
        folder.mkdir()
        written(folder, dict(RESIDUAL))
    tensors = {name: p.detach() * 1.2 for name, p in Run.load(two).net.named_parameters()}
    save_tensors(two / "weights.safetensors", tensors, {})
    write_graphs(two)
    backend = Run.load(two, "onnx").backend
    assert isinstance(backend, OnnxBackend)
    assert not agreement(Run.load(one, "torch"), backend, 3).good


def test_half_precision_weights_are_read_where_they_lie(tmp_path: Path) -> None:
    folder = written(tmp_path, dict(RESIDUAL), half=True)
    files = write_graphs(folder)
    assert sum(file.stat().st_size for file in files) < 700_000  # no weights inside
    backend = Run.load(folder, "onnx").backend
    assert isinstance(backend, OnnxBackend)
    assert agreement(Run.load(folder, "torch"), backend, 3).good


def test_the_first_blocks_of_an_evaluation_keep_floats(tmp_path: Path) -> None:
    folder = written(tmp_path, RESIDUAL | {"trunk": {"layers": 3}}, horizons=[1.0, 1.0, 1.0])
    made = graphs(load_recipe(folder / "recipe.toml"), tensor_places(folder / "weights.safetensors"), int8=True)
    products = {
        name: [node.op_type for node in model.graph.node].count("MatMulInteger") for name, model in made.items()
    }
    assert products == {"evaluate": 4, "value": 4, "predict": 12, "denoise": 12}  # four in a block


def test_graphs_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    folder = written(tmp_path, dict(RESIDUAL | FEATURES))
    first = [path.read_bytes() for path in write_graphs(folder)]
    assert [path.read_bytes() for path in write_graphs(folder)] == first


@pytest.mark.parametrize(
    ("model", "process", "words"),
    [
        ({}, "multinomial", "has no mask to start from"),
        ({"trunk": {"attention": "causal"}}, "autoregressive", "has no mask to start from"),
        ({"self_conditioning": True}, "absorbing", "self-conditioning"),
    ],
)
def test_runs_without_graphs_are_named(tmp_path: Path, model: dict[str, Any], process: str, words: str) -> None:
    folder = written(tmp_path, dict(COMPACT | model), process={"kind": process})
    with pytest.raises(UserError, match=f"'tiny'.*{words}.*backend=torch"):
        write_graphs(folder)
    assert not list(folder.glob("*.onnx"))
    assert Run.load(folder).backend.name == "torch"
