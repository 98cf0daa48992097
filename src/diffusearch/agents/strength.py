"""Strength 0 to 100: samples the move and reduces the search.

For every neural agent it changes two things and nothing else:
- the move is sampled from probabilities ** (1 / temperature) with temperature = (100 - dial) / dial. So 100 plays the
  best move, 50 samples from the agent's own probabilities, 0 samples all legal moves alike;
- the search is reduced in proportion: denoising steps and simulations are scaled by dial / 100, never below one.
The dial is no rating: which Elo a setting has depends on the weights and is measured by benchmarks/elo_scale.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FULL = 100


@dataclass(frozen=True)
class Strength:
    """A setting of the dial."""

    dial: int = FULL

    def temperature(self, own: float) -> float:
        """The temperature of the final choice; the agent's `own` one where that is higher."""
        if self.dial <= 0:
            return math.inf
        return max(own, (FULL - self.dial) / self.dial)

    def scaled(self, full: int) -> int:
        """How many of `full` steps or simulations are spent."""
        return max(1, round(full * self.dial / FULL))
