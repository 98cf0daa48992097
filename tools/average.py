"""The average of runs that come from one start: their weights, each with its share, in the shape of the first one.

python tools/average.py OUT RUN=SHARE [RUN=SHARE ...]

A weight that some of the runs lack (a policy has no residual state) is the average over those that have it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from diffusearch.files import write_whole
from diffusearch.training.checkpoint import load_tensors, save_tensors


def average(runs: list[tuple[dict[str, torch.Tensor], float]]) -> dict[str, torch.Tensor]:
    """Weights and shares -> the average weights, of the names and shapes of the first."""
    out: dict[str, torch.Tensor] = {}
    for name, own in runs[0][0].items():
        total, shares = torch.zeros_like(own, dtype=torch.float64), torch.zeros(len(own), dtype=torch.float64)
        for weights, share in runs:
            if name in weights and weights[name].shape[1:] == own.shape[1:]:
                rows = min(len(own), len(weights[name]))  # a shorter horizon has fewer places
                total[:rows] += share * weights[name][:rows].double()
                shares[:rows] += share
        out[name] = (total / shares.view(-1, *[1] * (own.ndim - 1))).to(own.dtype)
    return out


def main() -> None:
    if len(sys.argv) < 3 or not all("=" in part for part in sys.argv[2:]):
        sys.exit(__doc__)
    parts = [(Path(path), float(share)) for path, _, share in (part.rpartition("=") for part in sys.argv[2:])]
    loaded = [(load_tensors(path / "weights.safetensors"), share) for path, share in parts]
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    about = loaded[0][0][1]
    save_tensors(out / "weights.safetensors", average([(weights, share) for (weights, _), share in loaded]), about)
    write_whole(out / "recipe.toml", (parts[0][0] / "recipe.toml").read_bytes())
    print(f"{out}: {', '.join(f'{path.name} {share:g}' for path, share in parts)}")


if __name__ == "__main__":
    main()
