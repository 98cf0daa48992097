"""Exhibits of the package's own weights: how well they play, and planner x dynamics x evaluator at equal cost."""

from __future__ import annotations

from dataclasses import replace

from diffusearch.reproduce.exhibits import Exhibit, Row, row
from diffusearch.reproduce.plan import Drafts, PlannedRun
from diffusearch.weights import VERSION

POLICY = PlannedRun("policy", recipe="flagship/policy")
DENOISER = PlannedRun("diffusearch", recipe="flagship/diffusearch", after=POLICY)
SHIPPED = {
    "diffusearch": replace(DENOISER, packaged="diffusearch"),  # without the reader if trained anew: no row below drafts
    "s-a": PlannedRun("s-a", packaged="s-a", recipe="flagship/s-a", after=POLICY),
    "s-v": PlannedRun("s-v", packaged="s-v", recipe="flagship/s-v", after=POLICY),
}
# The draft reader learns from drafts of the network that it becomes part of, so they are made anew for each network.
READER = PlannedRun(
    "reader",
    ("data.sources=[{path='{runs}/drafts-games', weight=0.7}, {path='{runs}/drafts-puzzles', weight=0.3}]",),
    packaged="diffusearch",
    recipe="flagship/reader",
    after=DENOISER,
    drafts=(
        Drafts("data/reader", "drafts-games", limit=9000, exclude=("data/labels",)),
        Drafts("data/reader-puzzles", "drafts-puzzles", limit=3500),
    ),
)
BOTH = (SHIPPED["s-a"], SHIPPED["s-v"])
FLAGSHIP = Exhibit(
    name="flagship",
    place="not in the paper",
    title="The package's own weights",
    metrics=("elo", "puzzles", "actions"),
    rows=(
        row("DiffuSearch", "diffusearch", READER),
        row("explicit search", "search", READER),
        row("S-A", "s-a", SHIPPED["s-a"]),
        Row("fair MCTS (100 simulations)", "mcts:{s-a},{s-v}?simulations=100", BOTH),
        Row("MCTS as published (100 simulations)", "mcts-as-published:{s-a},{s-v}?simulations=100", BOTH),
        row("S-V", "s-v", SHIPPED["s-v"]),
        Row("Stockfish, 100 nodes", "stockfish:nodes=100"),
    ),
    remark="One policy run, each network trained from it, and a draft reader: recipes/flagship/.",
    reference="S-A",
)

# Options are chosen on 64 training positions so that a row has about the evaluations (81, where a predicted state is
# one too) or the processor time of minimax in imagined states. The four records differ by Gumbel noise in their
# rankings: on validation positions sampled tokens cost accuracy.
LOOK, JOINT, FOUR = "one look", "joint denoising", "joint denoising, 4 records"
IMAGINED = "minimax, imagined"
RULES = "minimax by the rules"
TREE_IMAGINED, TREE_RULES = "MCTS, imagined", "MCTS by the rules"
OTHER, OTHER_TREE = "minimax by the rules, S-A and S-V", "MCTS by the rules, S-A and S-V"


def planners(limit: int | None = None) -> Exhibit:
    """Planner x dynamics x evaluator; `limit` test positions."""

    def one(label: str, word: str, options: str) -> Row:
        return Row(label, f"{word}:{{diffusearch}}?{options}", (SHIPPED["diffusearch"],), limit=limit)

    def two(label: str, word: str, options: str) -> Row:
        return Row(label, f"{word}:{{s-a}},{{s-v}}?{options}", BOTH, limit=limit)

    return Exhibit(
        name="planners",
        place="not in the paper",
        title="Planner, dynamics and evaluator with the packaged weights",
        metrics=("actions",),
        rows=(
            one(LOOK, "diffusearch", "steps=1"),
            one(JOINT, "diffusearch", "order=confidence"),
            one(IMAGINED, "search", "widths=4x2x2x1"),
            one(f"{RULES}, the same tree", "search", "dynamics=rules&widths=4x2x2x1"),
            one(TREE_IMAGINED, "search", "planner=mcts&simulations=43"),
            one(f"{TREE_RULES}, equal time", "search", "planner=mcts&dynamics=rules&simulations=60"),
            one(f"{TREE_RULES}, equal evaluations", "search", "planner=mcts&dynamics=rules&simulations=84"),
            one(f"{RULES}, equal evaluations", "search", "dynamics=rules&widths=5x3x2x1"),
            one(FOUR, "diffusearch", "order=confidence&carry=gumbel&k=4"),
            two(f"{OTHER_TREE}, equal time", "mcts", "simulations=46"),
            two(f"{OTHER_TREE}, equal evaluations", "mcts", "simulations=84"),
            two(f"{OTHER}, the same tree", "search", "dynamics=rules&widths=4x2x2x1"),
        ),
        remark=f"Weights {VERSION}. "
        "The evaluator is the network `diffusearch` (policy and value), or the networks S-A and S-V. A state "
        "that the network predicts is an evaluation too. Processor time is that of one core with large batches. "
        "Equal means: about as many evaluations, or about as much time, as `minimax, imagined`; `MCTS, imagined` has "
        "about both. The four records of joint denoising differ by Gumbel noise; the likeliest is played.",
        reference=LOOK,
        spent=True,
    )
