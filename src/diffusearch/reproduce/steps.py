"""Figure 3 (right): denoising steps, easy-first against random order. One run, decoded in many ways."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION

EXHIBIT = Exhibit(
    name="steps",
    title="Action accuracy against denoising steps",
    metrics=("actions",),
    rows=tuple(
        row(f"{order}, {steps} steps", "diffusearch", DIFFUSION, f"steps={steps}&order={order}")
        for order in ("confidence", "random")
        for steps in (1, 2, 5, 10, 15, 20)
    ),
    remark="The paper draws this figure without printing its figures.",
)
