"""Which back end computes a run: onnxruntime where the run has graphs for it, else torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.extras import require
from diffusearch.graphs.about import graph_file, graph_names, refusal
from diffusearch.inference.backend import Backend
from diffusearch.inference.threads import tell_torch
from diffusearch.training.recipe import Recipe

BACKENDS = ("auto", "onnx", "torch")


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
    require("torch", f"the run {recipe.name!r} without graphs" if choice == "auto" else "backend=torch")
    from diffusearch.inference.torch_backend import TorchBackend
    from diffusearch.training.checkpoint import load_denoiser

    tell_torch()
    return TorchBackend(load_denoiser(recipe.model, folder / "weights.safetensors"), recipe.process)


def _graphs_serve(folder: Path, recipe: Recipe) -> bool:
    if refusal(recipe) or recipe.decoding.cache or find_spec("onnxruntime") is None:
        return False
    return any(graph_file(folder, name).is_file() for name in graph_names(recipe))
