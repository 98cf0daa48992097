"""Table 4: what the future must be like to help. Labels with `--future random-world`, `random` and `relabel`."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION, S_A, diffusion


def _labels(policy: str) -> str:
    return f"data.sources=[{{path='labels/10k-{policy}'}}]"


EXHIBIT = Exhibit(
    name="future-quality",
    title="Quality of the future that supervises S-ASA",
    metrics=("actions",),
    rows=(
        row("Without future", "s-a", S_A),
        row("Random world and policy", "diffusearch", diffusion("random-world", _labels("random-world"))),
        row("Random policy", "diffusearch", diffusion("random-policy", _labels("random"))),
        row("Stockfish policy", "diffusearch", DIFFUSION),
    ),
    remark="Label the same games three times: `diffusearch label GAMES --limit-games 10000 --future random-world "
    "--out labels/10k-random-world`, likewise `random`, and `relabel` into labels/10k.",
)
