"""Figure 3 (left) and Table 8: how true the imagined future is, step by step."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION

EXHIBIT = Exhibit(
    name="futures",
    title="Quality of imagined futures, horizon 4",
    metrics=("futures",),
    rows=(row("DiffuSearch, {scale} games", "diffusearch", DIFFUSION),),
    remark="The first move is masked to the legal ones; its raw legality stands under the table.",
)
