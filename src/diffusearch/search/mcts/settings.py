"""The settings of a search, with the paper's values as a preset beside the tuned ones."""

from __future__ import annotations

from dataclasses import dataclass

from diffusearch.search.mcts.conventions import FAIR, PUBLISHED, Conventions


@dataclass(frozen=True)
class Settings:
    """How one search is run. The defaults are the tuned ones (benchmarks/mcts_tune.py)."""

    simulations: int = 100  # new ones for each move, also when a tree is reused (paper: 100)
    cpuct: float = 1.0  # exploration, for values in [0, 1] (on AlphaZero's [-1, 1] this would be twice as much)
    fpu: float | None = None  # first-play urgency: Q of an unvisited move; None = the node's own value, reduced
    reduction: float = 0.2  # that much below the node's value once all prior mass is visited (only if fpu is None)
    temperature: float = 0.0  # of the play by visits: 0 = most visited, 1 = in proportion to visits
    parallel: int = 4  # leaves in flight, evaluated in one batch; each counts as a lost visit meanwhile
    prove: bool = True  # results forced by mates and draws inside the tree are known for certain
    reuse: bool = True  # keep the subtree of the moves played
    conventions: Conventions = FAIR


# The appendix: PUCT with cpuct 0.1, tau 1, 100 simulations, one leaf at a time. Unvisited edges have Q = 0 there; since
# it follows AlphaZero, whose values lie in [-1, 1], this is an even game: 1/2 on our scale.
PAPER = Settings(cpuct=0.1, fpu=0.5, temperature=1.0, parallel=1, prove=False)

# The authors' code, signs and all: argmax over visits and a new tree for each position (unlike the appendix).
AS_PUBLISHED = Settings(
    cpuct=0.1, fpu=0.0, temperature=0.0, parallel=1, prove=False, reuse=False, conventions=PUBLISHED
)

TUNED = Settings()

PRESETS = {"tuned": TUNED, "paper": PAPER}
