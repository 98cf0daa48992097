"""Put a trained run into the package: fp16 weights, its graphs, and its recipe without the paths of the machine.

python tools/ship.py RUN NAME        NAME is one of diffusearch, s-a, s-v
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import torch

from diffusearch.files import write_whole
from diffusearch.graphs.files import write_graphs
from diffusearch.training.checkpoint import load_tensors, save_tensors
from diffusearch.training.recipe import Recipe, load_recipe, recipe_text
from diffusearch.weights import NAMES

PACKAGE = Path(__file__).parent.parent / "src/diffusearch/weights"


def without_paths(recipe: Recipe, name: str) -> Recipe:
    """The recipe with folders cut down to their last name."""
    sources = tuple(dataclasses.replace(s, path=Path(s.path).name) for s in recipe.data.sources)
    held_out = tuple(Path(path).name for path in recipe.data.held_out)
    validation = Path(recipe.data.validation).name
    data = dataclasses.replace(recipe.data, sources=sources, validation=validation, held_out=held_out, cache="")
    return dataclasses.replace(recipe, name=name, data=data, start=Path(recipe.start).name, threads=0)


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[2] not in NAMES:
        sys.exit(__doc__)
    run, name = Path(sys.argv[1]), sys.argv[2]
    out = PACKAGE / name
    out.mkdir(exist_ok=True)
    weights, about = load_tensors(run / "weights.safetensors")
    save_tensors(out / "weights.safetensors", {key: w.to(torch.float16) for key, w in weights.items()}, about)
    write_whole(out / "recipe.toml", recipe_text(without_paths(load_recipe(run / "recipe.toml"), name)).encode())
    write_graphs(out)
    size = (out / "weights.safetensors").stat().st_size
    print(f"{out}: {sum(w.numel() for w in weights.values()):,} weights, {size / 2**20:.1f} MiB, step {about['step']}")


if __name__ == "__main__":
    main()
