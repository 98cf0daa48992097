"""A run whose draft reader is the hand-made rule: the reader as it is before any training (docs/implicit.md).

python tools/rule_reader.py RUN OUT        RUN is a run folder, or `diffusearch` for the packaged one

The rest of the network is that of RUN. `diffusearch:OUT` then reads drafts by the rule.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from diffusearch.files import write_whole
from diffusearch.graphs.files import write_graphs
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import load_tensors, save_tensors
from diffusearch.training.recipe import load_recipe
from diffusearch.weights import NAMES, packaged


def with_rule(weights: dict[str, torch.Tensor], net: Denoiser) -> dict[str, torch.Tensor]:
    """The weights with the draft reader of a network that was not trained."""
    fresh = {name: p.detach() for name, p in net.named_parameters() if name.startswith("draft_reader.")}
    return {name: w for name, w in weights.items() if name not in fresh} | fresh


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run = packaged(sys.argv[1]) if sys.argv[1] in NAMES else Path(sys.argv[1])
    out = Path(sys.argv[2])
    recipe = load_recipe(run / "recipe.toml")
    if not recipe.model.draft_reader:
        sys.exit(f"{run} has no draft reader: name a run with model.draft_reader = true")
    torch.manual_seed(0)
    weights, about = load_tensors(run / "weights.safetensors")
    out.mkdir(parents=True, exist_ok=True)
    save_tensors(out / "weights.safetensors", with_rule(weights, Denoiser(recipe.model)), about)
    write_whole(out / "recipe.toml", (run / "recipe.toml").read_bytes())
    write_graphs(out)
    print(out)


if __name__ == "__main__":
    main()
