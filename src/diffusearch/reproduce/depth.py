"""Figure 4 (left, middle) and Table 6: imagined depth against search depth, accuracy and time a move at batch 1."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, Row, row
from diffusearch.reproduce.runs import DIFFUSION, S_A, S_V, diffusion


def _separate(steps: int) -> Row:
    """A model of its own for each depth: `steps` future states are a horizon of steps + 1."""
    horizon = steps + 1
    run = DIFFUSION if horizon == 4 else diffusion(f"s-asa-h{horizon}", f"model.horizon={horizon}")
    return row(f"future steps {steps}, separate model", "diffusearch", run)


EXHIBIT = Exhibit(
    name="depth",
    title="Accuracy and latency against depth",
    metrics=("actions", "latency"),
    rows=(
        *(_separate(steps) for steps in range(8)),
        *(
            Row(
                f"{word}, {simulations} simulations",
                f"{word}:{{{S_A.name}}},{{{S_V.name}}}?simulations={simulations}",
                (S_A, S_V),
            )
            for word in ("mcts", "mcts-as-published")
            for simulations in (10, 25, 50, 100, 200)
        ),
    ),
    remark="The paper's single model for all depths is left out: a run here imagines as far as it was trained, not "
    "beyond. Its search rows are drawn, not printed.",
)
