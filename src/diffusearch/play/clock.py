"""Time, and nothing else: how long a move may take, and how many denoising steps fit into that.

All times are seconds. The engine measures its own speed while it plays; the number of steps is what is left to
choose. A budget has three marks: `optimum` is what the move is planned for, `maximum` is when a decision that is
already there is played, whatever is still being imagined, and `flag` is when a move is played at any price.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

# A game is expected to last this many more moves when the clock does not say. Small enough to use the time of a
# normal game, large enough that a long endgame is still played on the increment.
MOVES_EXPECTED = 30
# The cheapest decision must remain affordable for this many more moves.
RESERVE = 60
# A move may overrun its plan by this factor before the deadline cuts it off ...
OVERRUN = 3.0
# ... but one move never takes more than this share of what is left on the clock.
LARGEST_SHARE = 0.35
# When this share of what is left is gone without any decision, the flag is near.
LAST_SHARE = 0.3


@dataclass(frozen=True)
class Clock:
    """What the side to move has left."""

    remaining: float
    increment: float = 0.0
    moves_to_go: int | None = None  # moves until the next time control; None = the rest of the game


@dataclass(frozen=True)
class Budget:
    """Seconds for one move, counted from the moment the `go` line was read."""

    optimum: float
    maximum: float
    flag: float


def budget(clock: Clock, overhead: float, least: float = 0.0) -> Budget:
    """The budget of one move.

    `overhead` is what the way to the GUI and back may cost, `least` what the cheapest decision costs. Where the
    increment does not pay for that decision, time for RESERVE of them is put aside before the rest is shared out.
    """
    moves = min(MOVES_EXPECTED, clock.moves_to_go or MOVES_EXPECTED)
    later = min(RESERVE, (clock.moves_to_go or RESERVE + 1) - 1)
    # Half the overhead: as an average over many moves the margin for one move would be far too much.
    reserve = later * max(0.0, least + overhead / 2 - clock.increment)
    usable = max(0.0, clock.remaining - overhead - reserve)
    # The increment arrives after the move, and pays for that move's overhead first.
    share = (usable + (moves - 1) * max(0.0, clock.increment - overhead)) / moves
    largest = usable * (LARGEST_SHARE if moves > 1 else 0.8)  # the last move before the control may use nearly all
    optimum = min(share, largest)
    return Budget(optimum, min(OVERRUN * optimum, largest), LAST_SHARE * max(0.0, clock.remaining - overhead))


def fixed(seconds: float, overhead: float) -> Budget:
    """The budget of `go movetime`: all of it, less the overhead (but never less than half of a tiny one).

    No flag falls there, so a sound move a little late is better than a move at any price.
    """
    usable = max(seconds - overhead, seconds / 2)
    return Budget(usable, usable, math.inf)


class Speed:
    """Seconds per evaluation of the network, as a running mean with its running deviation.

    A denoising step is one evaluation, unless several futures are imagined side by side. An evaluation on its own costs
    more than one in a batch, and this is one figure for both: true for thoughts like those that were measured.

    Planning with mean + DEVIATIONS deviations, as a network protocol plans its timeouts, makes a machine with
    other work on it take fewer steps rather than lose on time.
    """

    WEIGHT = 0.25  # of the newest measurement
    DEVIATIONS = 2.0

    def __init__(self) -> None:
        self.mean: float | None = None
        self.deviation = 0.0

    def measured(self, seconds: float, evaluations: int) -> None:
        """Take in one decision of so many evaluations that took `seconds`."""
        if evaluations < 1 or not math.isfinite(seconds) or seconds < 0:
            return
        one = seconds / evaluations
        if self.mean is None:
            self.mean, self.deviation = one, one / 4
            return
        self.deviation += self.WEIGHT * (abs(one - self.mean) - self.deviation)
        self.mean += self.WEIGHT * (one - self.mean)

    def relax(self) -> None:
        """Trust the machine a little more again, when an old measurement kept us from taking a new one."""
        if self.mean is not None:
            self.mean, self.deviation = 0.8 * self.mean, 0.8 * self.deviation

    @property
    def careful(self) -> float | None:
        """Seconds per evaluation to plan with, None while nothing was measured."""
        return None if self.mean is None else self.mean + self.DEVIATIONS * self.deviation

    def steps_within(self, seconds: float, at_most: int, work: Callable[[int], int] = int) -> int:
        """How many steps surely fit into `seconds`: 0 ... at_most. Unmeasured, it promises only one.

        `work` says how many evaluations so many steps are; without it, as many.
        """
        careful = self.careful
        if careful is None:
            return min(1, at_most)
        if seconds <= 0:
            return 0
        return next((steps for steps in range(at_most, 0, -1) if careful * work(steps) <= seconds), 0)
