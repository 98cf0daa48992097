"""Table 3: what a record holds. Each paradigm with an autoregressive Transformer and with diffusion."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION, S_A, S_V, SA_V, autoregressive, diffusion

FUTURES = ("s-aa", "s-asa", "s-ass", "s-avav", "s-avsav")

EXHIBIT = Exhibit(
    name="paradigms",
    title="Baselines and future paradigms",
    metrics=("actions",),
    rows=(
        row("S-A, Transformer", "s-a", S_A),
        row("S-V, Transformer", "s-v", S_V),
        row("SA-V, Transformer", "sa-v", SA_V),
        *(row(f"{name.upper()}, Transformer", "autoregressive", autoregressive(name)) for name in FUTURES),
        *(
            row(
                f"{name.upper()}, DiffuSearch",
                "diffusearch",
                DIFFUSION if name == "s-asa" else diffusion(name, f"model.paradigm={name}"),
            )
            for name in FUTURES
        ),
    ),
)
