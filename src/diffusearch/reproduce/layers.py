"""Figure 3 (middle) and Table 7: depth of the trunk."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, row
from diffusearch.reproduce.runs import DIFFUSION, S_A, baseline, diffusion

LAYERS = (1, 2, 4, 8, 16)


def _label(agent: str, layers: int) -> str:
    return f"{agent}, {layers} layer{'' if layers == 1 else 's'}, {{scale}} games"


def _setting(layers: int) -> str:
    return f"model.trunk.layers={layers}"


EXHIBIT = Exhibit(
    name="layers",
    title="Action accuracy against layers",
    metrics=("actions",),
    rows=(
        *(row(_label("S-A", n), "s-a", S_A if n == 8 else baseline(f"s-a-{n}", "s-a", _setting(n))) for n in LAYERS),
        *(
            row(_label("DiffuSearch", n), "diffusearch", DIFFUSION if n == 8 else diffusion(f"s-asa-{n}", _setting(n)))
            for n in LAYERS
        ),
    ),
)
