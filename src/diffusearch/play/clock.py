"""Time control: how long a move may take, and how many denoising steps fit into that.

All times are seconds. The engine measures its own speed while it plays and chooses the number of steps. A budget has
three marks: `optimum` is what the move is planned for, `maximum` is when the best decision so far is played, and `flag`
is when a fallback move is played if there is no decision at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

# A game is expected to last this many more moves when the clock does not say. Small enough to use the time of a
# normal game, large enough that a long endgame is still played on the increment.
MOVES_EXPECTED = 30
# A first look must remain affordable for this many more moves.
RESERVE = 100
# Fallback moves must remain affordable up to this move of the game, and for at least so many more.
LONG_GAME = 90
LEAST_TURNS = 50
# A move may overrun its plan by this factor before the deadline cuts it off ...
OVERRUN = 3.0
# ... but one move never takes more than this share of what is left on the clock.
LARGEST_SHARE = 0.35
# When this share of what is left is gone without any decision, a fallback move is played.
LAST_SHARE = 0.3
_LEAST = 1e-9  # seconds: nothing is free


@dataclass(frozen=True)
class Clock:
    """What the side to move has left."""

    remaining: float
    increment: float = 0.0
    moves_to_go: int | None = None  # moves until the next time control; None = the rest of the game


@dataclass(frozen=True)
class MoveBudget:
    """Seconds for one move, counted from the moment the `go` line was read."""

    optimum: float
    maximum: float
    flag: float


def budget(clock: Clock, overhead: float, least: float = 0.0, turn: float = 0.0, played: int = 0) -> MoveBudget:
    """The budget of one move.

    `overhead` is what the way to the GUI and back may cost at most, `least` the cost of a first look. Where the
    increment does not pay for it, time for RESERVE of them is put aside before the rest is shared out. `turn` is the
    cost of a move without the network: time for the moves that may still come in a game with `played` moves behind it
    is put aside before the flag.
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
    left = max(0.0, clock.remaining - overhead)
    turns = min(later, max(LEAST_TURNS, LONG_GAME - played))
    flag = min(LAST_SHARE * left, max(0.0, left - turns * max(0.0, turn - clock.increment)))
    return MoveBudget(optimum, min(OVERRUN * optimum, largest), flag)


def fixed(seconds: float, overhead: float) -> MoveBudget:
    """The budget of `go movetime`: all of it, less the overhead (but never less than half of a tiny one).

    There is no flag: a considered move a little late is better than a fallback move.
    """
    usable = max(seconds - overhead, seconds / 2)
    return MoveBudget(usable, usable, math.inf)


class Lag:
    """What a move without the network costs on our clock: the pipe, the scheduler, the GUI and the fallback move.

    It is measured from the clocks that the GUI sends, so it holds what the engine itself cannot see. Beside a busy
    program single ones are many times the mean, so their spread is measured, too: the sum over the LEAST_TURNS moves
    that are put aside lies DEVIATIONS of its own standard deviation (a root of LEAST_TURNS of one's) above its mean.
    """

    PRIOR = 0.006
    WEIGHT = 0.1  # of the newest measurement
    OWN = 0.003  # seconds of a fallback move itself, where a move of the network was measured
    LARGEST = 1.0  # a longer one is an adjournment, not a lag
    DEVIATIONS = 3.0

    def __init__(self) -> None:
        self.mean = self.PRIOR
        self.variance = self.PRIOR**2

    def measured(self, seconds: float) -> None:
        if 0 <= seconds <= self.LARGEST:
            error = seconds - self.mean
            self.mean += self.WEIGHT * error
            self.variance += self.WEIGHT * ((1 - self.WEIGHT) * error**2 - self.variance)

    @property
    def turn(self) -> float:
        """Seconds to plan with for a move without the network."""
        return self.mean + self.DEVIATIONS * math.sqrt(self.variance / LEAST_TURNS)


class Speed:
    """The cost of a decision: seconds of a network call with one position, and of each further position in its batch.

    Positions in one batch cost far less than one after another, so both figures are needed. Every decision measures a
    sum of them; a Kalman filter of two drifting figures tells them apart. Until a decision with batches was measured,
    a further position counts like a call.

    Planning adds DEVIATIONS times the running error of the predictions, as network protocols plan their timeouts: on
    a busy machine the engine takes fewer steps rather than lose on time.
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
        """Take in one decision of so many network calls and evaluations of one position that took `seconds`."""
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
        """Seconds of a decision to plan with, None while nothing was measured."""
        if self.figures is None:
            return None
        return self._mean(calls, evaluations) * (1.0 + self.DEVIATIONS * self.deviation)

    def expected(self, calls: int, evaluations: int) -> float:
        """Seconds of a decision on average, 0 while nothing was measured."""
        return 0.0 if self.figures is None else self._mean(calls, evaluations)

    def relax(self) -> None:
        """Lower both figures, when an old measurement kept us from taking a new one."""
        if self.figures is not None:
            self.figures = 0.8 * self.figures[0], 0.8 * self.figures[1]

    def relax_batches(self) -> None:
        """The same, when only decisions with batches were not taken."""
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
