"""Elo by the BayesElo model: ratings, the first-move advantage and the draw margin, by maximum likelihood.

With x = rating of White - rating of Black + advantage and the draw margin d (all in Elo points):

    P(White wins) = f(x - d),  P(Black wins) = f(-x - d),  P(draw) = the rest,  f(y) = 1 / (1 + 10^(-y/400))

so that P(draw) = (10^(2d/400) - 1) P(White wins) P(Black wins), which makes the log-likelihood concave: a damped
Newton climb from anywhere ends at the one maximum. `prior` gives each player that many virtual games, each half won
and half lost, shared among its opponents by games played and among colours evenly. It keeps ratings finite where
somebody never lost: virtual draws would not, because a growing draw margin explains them at any distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError

Array = npt.NDArray[np.float64]
SCALE = math.log(10) / 400  # Elo points -> natural log-odds
CLOSE = 1e-13  # the climb ends when the slope promises less than this in log-likelihood
FAR = 12.0  # log-odds (2,084 Elo from the mean) beyond which a climb without a prior counts as endless


@dataclass(frozen=True)
class Counts:
    """Results by ordered pair: arrays of shape [pairs]. `white` and `black` are player indices."""

    white: npt.NDArray[np.int64]
    black: npt.NDArray[np.int64]
    wins: Array  # of White
    draws: Array
    losses: Array  # of White

    @property
    def games(self) -> Array:
        """Games of each ordered pair."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class Fit:
    """The maximum of the likelihood, in Elo points."""

    ratings: Array  # [players], mean 0
    advantage: float  # what moving first is worth
    draw: float  # the margin d; 0 where no game was drawn


def expected(fit: Fit, white: int, black: int) -> tuple[float, float, float]:
    """Chances that White wins, draws, loses."""
    x = fit.ratings[white] - fit.ratings[black] + fit.advantage
    win, loss = _logistic(SCALE * (x - fit.draw)), _logistic(SCALE * (-x - fit.draw))
    return float(win), float(1 - win - loss), float(loss)


def fit(counts: Counts, players: int, prior: float = 2.0) -> Fit:
    """Rate the players. With prior 0 it is plain maximum likelihood, where that exists."""
    if players < 2 or not counts.games.sum():
        raise UserError("Elo needs at least two players and one game: play more before rating.")
    if prior > 0:
        counts = _with_mirrors(counts)
    virtual = _virtual_games(counts, players, prior)
    wins, draws, losses = counts.wins + virtual / 2, counts.draws, counts.losses + virtual / 2
    # Parameters in natural log-odds: ratings [players], advantage, draw margin. A pair sees only x = design @ p.
    design = np.zeros((len(counts.white), players + 2))
    rows = np.arange(len(counts.white))
    design[rows, counts.white] += 1
    design[rows, counts.black] -= 1
    design[:, players] = 1
    drawn = float(draws.sum())
    parameters = np.zeros(players + 2)
    parameters[-1] = 0.5 if drawn else 0.0

    def value(p: Array) -> float:
        x, d = design @ p, p[-1]
        total = -(wins + draws) @ np.logaddexp(0, d - x) - (losses + draws) @ np.logaddexp(0, d + x)
        return float(total + (drawn * math.log(math.expm1(2 * d)) if drawn else 0.0))

    best = value(parameters)
    for _ in range(200):
        step, slope = _newton_step(design, parameters, wins + draws, losses + draws, drawn)
        if slope < CLOSE:
            break
        climbed = _climb(value, parameters, step, best, positive=drawn > 0)
        if climbed is None:
            break  # as high as floating point can tell
        parameters, best = climbed
        if not prior and np.abs(parameters).max() > FAR:
            raise UserError("The ratings have no maximum (somebody never lost a game): rate with a prior above 0.")
    ratings = parameters[:players] / SCALE
    return Fit(ratings - ratings.mean(), float(parameters[players] / SCALE), float(parameters[-1] / SCALE))


def _logistic(y: float | Array) -> float | Array:
    out: float | Array = 0.5 * (1 + np.tanh(0.5 * np.asarray(y)))  # no overflow at either end
    return out


def _climb(
    value: Callable[[Array], float], start: Array, step: Array, height: float, positive: bool
) -> tuple[Array, float] | None:
    """The step, halved until it really climbs and leaves the draw margin positive; None if no step does."""
    while np.abs(step).max() > 1e-14:
        candidate = start + step
        if not positive or candidate[-1] > 0:
            reached = value(candidate)
            if reached > height:
                return candidate, reached
        step = step / 2
    return None


def _newton_step(design: Array, p: Array, up: Array, down: Array, drawn: float) -> tuple[Array, float]:
    """The Newton step and the rise that it promises. `up` [pairs] = wins + draws, `down` [pairs] = losses + draws."""
    x, d = design @ p, p[-1]
    win, loss = np.asarray(_logistic(x - d)), np.asarray(_logistic(-x - d))
    pull, push = up * (1 - win), down * (1 - loss)
    gradient = design.T @ (pull - push)
    bend, dent = up * win * (1 - win), down * loss * (1 - loss)
    curvature = -(design.T * (bend + dent)) @ design
    if drawn:
        gradient[-1] = -(pull + push).sum() + drawn * 2 / -math.expm1(-2 * d)
        cross = design.T @ (bend - dent)
        curvature[-1, :] += cross
        curvature[:, -1] += cross
        curvature[-1, -1] = -(bend + dent).sum() - drawn * 4 * math.exp(-2 * d) / math.expm1(-2 * d) ** 2
    # Ratings are known up to a constant: the least-squares step leaves that direction alone.
    step: Array = np.linalg.lstsq(-curvature, gradient, rcond=1e-12)[0]
    return step, float(gradient @ step) / 2


def _with_mirrors(counts: Counts) -> Counts:
    """The same counts with every pair present in both colours, so that virtual games can be split evenly."""
    seen = set(zip(counts.white.tolist(), counts.black.tolist(), strict=True))
    missing = [(black, white) for white, black in seen if (black, white) not in seen]
    if not missing:
        return counts
    zeros = np.zeros(len(missing))
    more = np.array(missing, dtype=np.int64)
    return Counts(
        np.concatenate([counts.white, more[:, 0]]),
        np.concatenate([counts.black, more[:, 1]]),
        np.concatenate([counts.wins, zeros]),
        np.concatenate([counts.draws, zeros]),
        np.concatenate([counts.losses, zeros]),
    )


def _virtual_games(counts: Counts, players: int, prior: float) -> Array:
    """Virtual games of each ordered pair [pairs]; they sum to prior * players / 2."""
    met = np.zeros((players, players))
    np.add.at(met, (counts.white, counts.black), counts.games)
    met = met + met.T
    own = np.maximum(met.sum(axis=1), 1)
    share = met * (1 / own[:, None] + 1 / own[None, :]) / 2  # of an unordered pair, both players' parts together
    out: Array = prior * share[counts.white, counts.black] / 2  # half of it in each colour
    return out
