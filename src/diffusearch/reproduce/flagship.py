"""Our own table: the weights inside the package against each other and Stockfish; with --train from recipe to table."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit, Row, Training, row

POLICY = Training("policy", recipe="flagship/policy")
DIFFUSEARCH, S_A, S_V = (
    Training(name, packaged=True, recipe=f"flagship/{name}", after=POLICY) for name in ("diffusearch", "s-a", "s-v")
)
ROWS = (
    row("DiffuSearch", "diffusearch", DIFFUSEARCH),
    row("S-A", "s-a", S_A),
    Row("fair MCTS (100 simulations)", "mcts:{s-a},{s-v}?simulations=100", (S_A, S_V)),
    Row("MCTS as published (100 simulations)", "mcts-as-published:{s-a},{s-v}?simulations=100", (S_A, S_V)),
    row("S-V", "s-v", S_V),
    Row("Stockfish, 100 nodes", "stockfish:nodes=100"),
)

EXHIBIT = Exhibit(
    name="flagship",
    title="The package's own weights",
    metrics=("elo", "puzzles", "actions"),
    rows=ROWS,
    remark="One policy run, then each net trained from it: recipes/flagship/.",
)
