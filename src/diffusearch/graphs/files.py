"""Writes the graphs of a run beside its weights. They hold no numbers of their own: all read weights.safetensors."""

from __future__ import annotations

from pathlib import Path

import onnx

from diffusearch.files import sha256, write_whole
from diffusearch.graphs.about import KEY, facts, graph_file
from diffusearch.graphs.builder import WEIGHTS
from diffusearch.graphs.network import graphs
from diffusearch.graphs.weights_file import tensor_places
from diffusearch.training.recipe import load_recipe


def write_graphs(folder: Path) -> list[Path]:
    """The files of all graphs of a run folder, written anew."""
    recipe, weights = load_recipe(folder / "recipe.toml"), folder / WEIGHTS
    places, about = tensor_places(weights), facts(recipe, sha256(weights))
    made = {
        graph_file(folder, name, int8=int8): model
        for int8 in (True, False)
        for name, model in graphs(recipe, places, int8=int8).items()
    }
    for path, model in made.items():
        onnx.helper.set_model_props(model, {KEY: about})
        write_whole(path, model.SerializeToString(deterministic=True))
    return list(made)
