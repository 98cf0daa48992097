"""Table 2: every agent's Elo, puzzles and actions. The search stands there twice: fair, and as published."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, Row, row
from diffusearch.reproduce.runs import DIFFUSION, S_A, S_V, SA_V

MCTS = f"{{{S_A.name}}},{{{S_V.name}}}?simulations=100"

EXHIBIT = Exhibit(
    name="main",
    title="Prediction and playing strength",
    metrics=("elo", "puzzles", "actions"),
    rows=(
        row("S-A, {scale} games", "s-a", S_A),
        row("S-V, {scale} games", "s-v", S_V),
        row("SA-V, {scale} games", "sa-v", SA_V),
        Row("MCTS (100 simulations), {scale} games", f"mcts-as-published:{MCTS}", (S_A, S_V)),
        Row("fair MCTS (100 simulations)", f"mcts:{MCTS}", (S_A, S_V)),
        row("DiffuSearch, {scale} games", "diffusearch", DIFFUSION),
    ),
    remark="The paper's search is taken to be the authors' published one; the fair one is ours, with the same nets.",
)
