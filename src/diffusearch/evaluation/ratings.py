"""A rating list out of games: Elo with intervals by bootstrap over opening pairs, and who is better than whom.

The two games of a pair share their opening, so they are drawn together: the pair, not the game, is the unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.evaluation.bayeselo import Counts, Fit, fit
from diffusearch.evaluation.intervals import percentile_interval


@dataclass(frozen=True)
class RatedGame:
    """One finished game."""

    white: str
    black: str
    points: float  # of White: 1, 0.5, 0
    opening: int  # games of one pairing with the same opening form a pair


@dataclass(frozen=True)
class Ratings:
    """The rating list. Arrays are in the order of `players`."""

    players: tuple[str, ...]
    fit: Fit
    elo: npt.NDArray[np.float64]  # [players], shifted to the anchors
    intervals: list[tuple[float, float]]
    los: npt.NDArray[np.float64]  # [players, players]: share of replicas in which the row's player is stronger
    games: npt.NDArray[np.int64]  # [players]
    points: npt.NDArray[np.float64]  # [players]
    scores: npt.NDArray[np.float64]  # [players, players]: points of the row's player against the column's
    met: npt.NDArray[np.int64]  # [players, players]: games between them
    wins_draws_losses: npt.NDArray[np.int64]  # [players, players, 3]

    def order(self) -> list[int]:
        """Players from the strongest down."""
        return sorted(range(len(self.players)), key=lambda i: -float(self.elo[i]))

    def to_json(self) -> dict[str, Any]:
        """Ready for the result file."""
        rows = [
            {
                "agent": self.players[i],
                "elo": float(self.elo[i]),
                "interval": list(self.intervals[i]),
                "games": int(self.games[i]),
                "score": float(self.points[i] / self.games[i]) if self.games[i] else None,
                "draws": float(self.wins_draws_losses[i, :, 1].sum() / max(1, self.games[i])),
            }
            for i in self.order()
        ]
        return {
            "ratings": rows,
            "players": list(self.players),
            "advantage": self.fit.advantage,
            "draw_margin": self.fit.draw,
            "los": self.los.tolist(),
            "wins_draws_losses": self.wins_draws_losses.tolist(),
        }


def rate(
    results: Sequence[RatedGame],
    players: Sequence[str],
    *,
    prior: float = 2.0,
    replicas: int = 1000,
    seed: int = 0,
    anchors: Mapping[str, float] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Ratings:
    """Fit the model to the games and again to `replicas` redrawn sets of pairs (as many for each pairing).

    `anchors` are players of known Elo: the list is shifted so that they have it on average. Without them the mean is 0.
    """
    names = tuple(players)
    index = {name: i for i, name in enumerate(names)}
    known = dict(anchors or {})
    if missing := [name for name in known if name not in index]:
        raise UserError(f"The anchor {missing[0]!r} does not play: choose one of {', '.join(names)}.")
    held = [index[name] for name in known]
    units, strata = _units(results, index)
    cells = sorted({cell for unit in units for cell in unit})
    place = {cell: i for i, cell in enumerate(cells)}
    table = np.zeros((len(units), len(cells), 3))
    for row, unit in enumerate(units):
        for cell, counted in unit.items():
            table[row, place[cell]] += counted

    def fitted(totals: npt.NDArray[np.float64]) -> Fit:
        white, black = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        return fit(Counts(white, black, totals[:, 0], totals[:, 1], totals[:, 2]), len(names), prior)

    def shifted(one: Fit) -> npt.NDArray[np.float64]:
        if not known:
            return one.ratings
        moved: npt.NDArray[np.float64] = one.ratings + np.mean(list(known.values())) - one.ratings[held].mean()
        return moved

    best = fitted(table.sum(axis=0))
    generator = np.random.default_rng(seed)
    samples = np.zeros((replicas, len(names)))
    for replica in range(replicas):
        drawn = np.concatenate([generator.choice(rows, size=len(rows)) for rows in strata])
        samples[replica] = shifted(fitted(table[drawn].sum(axis=0)))
        progress(1)
    better = (samples[:, :, None] > samples[:, None, :]).mean(axis=0)
    equal = (samples[:, :, None] == samples[:, None, :]).mean(axis=0)
    outcome = _outcomes(results, index)
    met = outcome.sum(axis=2)
    scores = outcome[:, :, 0] + outcome[:, :, 1] / 2
    elo = shifted(best)
    return Ratings(
        players=names,
        fit=best,
        elo=elo,
        intervals=[percentile_interval(samples[:, i]) for i in range(len(names))],
        los=better + equal / 2,
        games=met.sum(axis=1),
        points=scores.sum(axis=1),
        scores=scores,
        met=met,
        wins_draws_losses=outcome,
    )


Unit = dict[tuple[int, int], npt.NDArray[np.float64]]  # (white, black) -> [wins, draws, losses]


def _units(results: Sequence[RatedGame], index: dict[str, int]) -> tuple[list[Unit], list[npt.NDArray[np.int64]]]:
    """The opening pairs, and for each pairing which of them are its own."""
    pairs: dict[tuple[int, int, int], Unit] = defaultdict(lambda: defaultdict(lambda: np.zeros(3)))
    for game in results:
        white, black = index[game.white], index[game.black]
        key = (min(white, black), max(white, black), game.opening)
        pairs[key][white, black][_column(game.points)] += 1
    keys = sorted(pairs)
    strata: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row, (first, second, _) in enumerate(keys):
        strata[first, second].append(row)
    return [pairs[key] for key in keys], [np.array(rows, dtype=np.int64) for rows in strata.values()]


def _outcomes(results: Sequence[RatedGame], index: dict[str, int]) -> npt.NDArray[np.int64]:
    table = np.zeros((len(index), len(index), 3), dtype=np.int64)
    for game in results:
        white, black, column = index[game.white], index[game.black], _column(game.points)
        table[white, black, column] += 1
        table[black, white, 2 - column] += 1
    return table


def _column(points: float) -> int:
    return {1.0: 0, 0.5: 1, 0.0: 2}[points]
