"""Figure 4 (right): training games, from 5k to 100k, for S-A and for diffusion."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import baseline, diffusion

SIZES = ("5k", "10k", "20k", "50k", "100k")


def _labels(size: str) -> str:
    return f"data.sources=[{{path='labels/{size}'}}]"


EXHIBIT = Exhibit(
    name="data-size",
    title="Action accuracy against training games",
    metrics=("actions",),
    rows=(
        *(row(f"S-A, {size} games", "s-a", baseline(f"s-a-{size}", "s-a", _labels(size))) for size in SIZES),
        *(
            row(f"DiffuSearch, {size} games", "diffusearch", diffusion(f"s-asa-{size}", _labels(size)))
            for size in SIZES
        ),
    ),
    paper="main",
    remark="The paper prints only the ends of these curves (table main).",
)
