"""The strength dial, 0 to 100, for every neural agent: one number that makes a player weaker, honestly.

Two things follow from it and nothing else:
- the move is drawn from shares ** (1 / temperature) with temperature = (100 - dial) / dial. So 100 plays the best
  move, 50 draws from the agent's own shares, 0 draws among all legal moves alike;
- thinking shrinks in proportion: denoising steps and simulations are scaled by dial / 100, never below one.
The dial is no rating: which Elo a setting has depends on the weights and must be measured by a tournament.
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

    def effort(self, full: int) -> int:
        """How many of `full` steps or simulations are spent."""
        return max(1, round(full * self.dial / FULL))
