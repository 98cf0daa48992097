"""Measured ratings: the scale of `ratings.json`, by agent, and the strength that has a given Elo.

`benchmarks/elo_scale.py` plays the matches and writes the file. Ratings hold for the packaged weights, and for each
agent's own budget; an agent that is not in the file has no rating.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from diffusearch.agents.spec import AgentSpec
from diffusearch.agents.strength import FULL

FILE = Path(__file__).with_name("ratings.json")
FLOOR = 400  # Elo: what is weaker plays almost at random, and its rating is known only roughly


@dataclass(frozen=True)
class Measured:
    """A rating with its 95 % interval."""

    elo: int
    low: int
    high: int


@functools.cache
def ratings() -> dict[str, Measured]:
    """All measured ratings by the agent's text."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))["ratings"]
    return {row["agent"]: Measured(row["elo"], row["low"], row["high"]) for row in rows}


@functools.cache
def dial_ratings(word: str) -> tuple[tuple[int, int], ...]:
    """(strength, Elo) of an agent's measured strengths from FLOOR on, both rising; empty where there are less than two.

    From the strongest down, a strength that was not measured below the one above it is left out: that is chance.
    """
    points: list[tuple[int, int]] = []
    for text, measured in ratings().items():
        spec = AgentSpec.parse(text)
        if spec.word == word and spec.argument is None and set(spec.options) <= {"strength"}:
            points.append((int(spec.options.get("strength", FULL)), measured.elo))
    rising: list[tuple[int, int]] = []
    for dial, elo in sorted(points, reverse=True):
        if elo >= FLOOR and (not rising or elo < rising[-1][1]):
            rising.append((dial, elo))
    return tuple(reversed(rising)) if len(rising) > 1 else ()


def elo_range(word: str) -> tuple[int, int]:
    """The weakest and the strongest Elo that an agent with measured strengths can be set to."""
    points = dial_ratings(word)
    return points[0][1], points[-1][1]


def strength_of(word: str, elo: int) -> int:
    """The strength that has an Elo, linear between measured ones; beyond the range its end."""
    low, high = elo_range(word)
    elo = min(max(elo, low), high)
    for (dial, below), (next_dial, above) in pairwise(dial_ratings(word)):
        if elo <= above:
            return round(dial + (next_dial - dial) * (elo - below) / (above - below))
    raise AssertionError("the Elo lies in the range")
