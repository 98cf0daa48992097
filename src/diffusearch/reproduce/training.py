"""Table 5: how the future is learnt. Direct, autoregressive, Gaussian, and discrete diffusion with its weights."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION, autoregressive, diffusion

EXHIBIT = Exhibit(
    name="training",
    title="Training methods",
    metrics=("actions",),
    rows=(
        row("Direct", "direct", diffusion("direct", "process.kind=direct")),
        row("Autoregressive", "autoregressive", autoregressive("s-asa")),
        row("Gaussian", "diffusearch", diffusion("gaussian", "process.kind=gaussian")),
        row("Absorbing, constant weight", "diffusearch", diffusion("constant", "loss.time_weight=constant")),
        row("Absorbing, weight 1/t", "diffusearch", diffusion("reciprocal", "loss.time_weight=reciprocal")),
        row("Absorbing, linear weight", "diffusearch", DIFFUSION),
        row("Multinomial, linear weight", "diffusearch", diffusion("multinomial", "process.kind=multinomial")),
    ),
)
