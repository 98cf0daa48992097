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
RESERVE = 100
# A move may overrun its plan by this factor before the deadline cuts it off ...
OVERRUN = 3.0
# ... but one move never takes more than this share of what is left on the clock.
LARGEST_SHARE = 0.35
# When this share of what is left is gone without any decision, the flag is near.
LAST_SHARE = 0.3
_LEAST = 1e-9  # seconds: nothing is free


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
    """What a thought costs: so many seconds for a call of the network with one position, so many for each further one.

    Positions side by side cost far less than one after another, so a fan of futures needs both figures. Every thought
    measures a sum of them; a Kalman filter of two figures that drift tells them apart and weighs each measurement by
    what it says about either. Until a thought with batches was measured, nothing is thought to be saved by them.

    Planning adds DEVIATIONS times the running error of the predictions, as a network protocol plans its timeouts: a
    machine with other work on it takes fewer steps rather than lose on time.
    """

    DEVIATIONS = 2.0
    WEIGHT = 0.25  # of the newest error of prediction
    NOISE = 0.2  # of one measurement, as a share of it
    DRIFT = 0.1  # of a figure from one measurement to the next, as a share of it

    def __init__(self) -> None:
        self.figures: tuple[float, float] | None = None  # seconds of a call with one position, and of a further one
        self._spread = (0.0, 0.0, 0.0)  # how unsure they are: variance of the first, covariance, variance of the second
        self.deviation = 0.25  # mean error, as a share of what was predicted

    def measured(self, seconds: float, calls: int, evaluations: int) -> None:
        """Take in one thought of so many network calls and evaluations of one position that took `seconds`."""
        if calls < 1 or not math.isfinite(seconds) or seconds < 0:
            return
        if self.figures is None:
            each = max(seconds / max(calls, evaluations), _LEAST)
            self.figures, self._spread = (each, each), (each**2, 0.0, each**2)
            return
        call, further = self.figures
        predicted = self._mean(calls, evaluations)
        surprise = seconds / predicted - 1.0
        self.deviation += self.WEIGHT * (abs(surprise) - self.deviation)
        least = 0.1 * max(call, further)
        first = self._spread[0] + (self.DRIFT * max(call, least)) ** 2
        both = self._spread[1]
        second = self._spread[2] + (self.DRIFT * max(further, least)) ** 2
        x, y = calls / predicted, max(0, evaluations - calls) / predicted  # what was seen of either figure
        across = first * x + both * y, both * x + second * y
        total = across[0] * x + across[1] * y + self.NOISE**2
        gain = across[0] / total, across[1] / total
        self.figures = max(call + gain[0] * surprise, _LEAST), max(further + gain[1] * surprise, _LEAST)
        self._spread = first - gain[0] * across[0], both - gain[0] * across[1], second - gain[1] * across[1]

    def _mean(self, calls: int, evaluations: int) -> float:
        assert self.figures is not None
        return self.figures[0] * calls + self.figures[1] * max(0, evaluations - calls)

    def careful(self, calls: int = 1, evaluations: int = 1) -> float | None:
        """Seconds of a thought to plan with, None while nothing was measured."""
        if self.figures is None:
            return None
        return self._mean(calls, evaluations) * (1.0 + self.DEVIATIONS * self.deviation)

    def relax(self) -> None:
        """Trust the machine a little more again, when an old measurement kept us from taking a new one."""
        if self.figures is not None:
            self.figures = 0.8 * self.figures[0], 0.8 * self.figures[1]

    def relax_batches(self) -> None:
        """The same, when only thoughts with batches were not taken."""
        if self.figures is not None:
            self.figures = self.figures[0], 0.8 * self.figures[1]

    def steps_within(
        self, seconds: float, at_most: int, work: Callable[[int], int] = int, latest: float | None = None
    ) -> int:
        """How many steps (network calls) fit into `seconds`: 0 ... at_most. Unmeasured, it promises only one.

        `work` says how many evaluations so many steps are; without it, as many. They fit if they surely do. Where a
        move may overrun its plan, `latest` says till when: then the plan holds on average, and that mark surely.
        """
        if self.figures is None:
            return min(1, at_most)
        if seconds <= 0:
            return 0
        end = seconds if latest is None else latest
        for steps in range(at_most, 0, -1):
            if self._mean(steps, work(steps)) <= seconds and (self.careful(steps, work(steps)) or 0.0) <= end:
                return steps
        return 0
