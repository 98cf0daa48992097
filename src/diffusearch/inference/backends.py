"""Which back end computes a run: onnxruntime where the run has graphs for it, else torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.extras import require
from diffusearch.graphs.about import graph_file, graph_names, refusal
from diffusearch.inference.backend import Backend
from diffusearch.inference.backend_names import BACKENDS
from diffusearch.inference.threads import tell_torch
from diffusearch.training.recipe import Recipe


def open_backend(choice: str, folder: Path, recipe: Recipe, fingerprint: str) -> Backend:
    """The back end of a choice.

    `auto` is onnxruntime if it is installed and any graph lies in the folder, and the run's own [decoding] can be
    computed with graphs. Graphs that are there and do not fit the run are refused, never passed over.
    """
    if choice not in BACKENDS:
        raise UserError(f"backend {choice!r} is unknown: choose one of {', '.join(BACKENDS)}")
    if choice == "onnx" or (choice == "auto" and _graphs_serve(folder, recipe)):
        require("onnxruntime", "backend=onnx")
        from diffusearch.inference.onnx_backend import OnnxBackend

        return OnnxBackend(folder, recipe, fingerprint)
    if choice == "auto" and find_spec("torch") is None and _has_graphs(folder, recipe):
        require("onnxruntime", f"the run {recipe.name!r}")
    require("torch", _who_needs_torch(choice, recipe))
    from diffusearch.inference.torch_backend import TorchBackend
    from diffusearch.training.checkpoint import load_denoiser

    tell_torch()
    return TorchBackend(load_denoiser(recipe.model, folder / "weights.safetensors"), recipe.process)


def _graphs_serve(folder: Path, recipe: Recipe) -> bool:
    return _has_graphs(folder, recipe) and find_spec("onnxruntime") is not None


def _has_graphs(folder: Path, recipe: Recipe) -> bool:
    """Whether graphs lie in the folder that can compute the run's own [decoding]."""
    if refusal(recipe) or recipe.decoding.cache:
        return False
    return any(graph_file(folder, name).is_file() for name in graph_names(recipe))


def _who_needs_torch(choice: str, recipe: Recipe) -> str:
    if choice == "torch":
        return "backend=torch"
    cached = recipe.decoding.cache and not refusal(recipe)
    return f"the run {recipe.name!r} {'with cache in its [decoding]' if cached else 'without graphs'}"
