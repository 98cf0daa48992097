"""The paper's claims as tests on measured rows, and the verdict on each: a rule, not an opinion.

A test is a contrast of rows (contrasts.py). It holds if its 95 % interval lies above zero; it fails if the interval
lies below a margin of one point, so that a gain worth the name is excluded; otherwise it cannot be told. A test of
"no gain" holds below a margin of two points and fails above zero. "Straight" holds within a margin of one point around
zero and fails if the interval excludes zero. A claim holds if all of its tests hold, fails if one fails, and cannot be
told otherwise. Some contrasts are told without a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import log2

from diffusearch.reproduce.contrasts import Estimate, RowOutcomes, bend, contrast, slope
from diffusearch.reproduce.packaged import (
    FOUR,
    IMAGINED,
    JOINT,
    LOOK,
    OTHER_TREE,
    RULES,
    TREE_IMAGINED,
    TREE_RULES,
)
from diffusearch.reproduce.scales import Scale

SMALL, FLAT = 0.01, 0.02  # margins, in shares of 1

Rows = Mapping[tuple[str, str], RowOutcomes]  # (exhibit, label) -> what was measured


class Verdict(Enum):
    HOLDS = "holds here"
    FAILS = "does not hold here"
    OPEN = "cannot be told at this scale"
    MISSING = "not measured yet"


@dataclass(frozen=True)
class Test:
    """One contrast: its words, the weights of its rows, what is expected of it, and the paper's figure in points."""

    __test__ = False  # no test of pytest

    words: str
    exhibit: str
    weights: tuple[tuple[str, float], ...]  # label -> weight
    expected: str = "gain"  # "gain", "no gain", "straight", or "" for what is told without a verdict
    paper: float | None = None

    def estimate(self, rows: Rows, spread: float) -> Estimate | None:
        """The contrast; None where a row is missing."""
        found = {label: rows.get((self.exhibit, label)) for label, _ in self.weights}
        known = {label: row for label, row in found.items() if row is not None}
        return contrast(known, dict(self.weights), spread) if len(known) == len(found) else None

    def verdict(self, estimate: Estimate | None) -> Verdict:
        if estimate is None:
            return Verdict.MISSING
        if self.expected == "straight":
            if estimate.low > -SMALL and estimate.high < SMALL:
                return Verdict.HOLDS
            return Verdict.FAILS if estimate.low > 0 or estimate.high < 0 else Verdict.OPEN
        if self.expected == "no gain":
            if estimate.high < FLAT:
                return Verdict.HOLDS
            return Verdict.FAILS if estimate.low > 0 else Verdict.OPEN
        if estimate.low > 0:
            return Verdict.HOLDS
        return Verdict.FAILS if estimate.high < SMALL else Verdict.OPEN


@dataclass(frozen=True)
class Claim:
    """A claim of the paper."""

    number: int
    words: str
    tests: tuple[Test, ...]
    remark: str = ""

    def verdict(self, rows: Rows, spread: float) -> Verdict:
        each = [test.verdict(test.estimate(rows, spread)) for test in self.tests if test.expected]
        for worst in (Verdict.FAILS, Verdict.MISSING, Verdict.OPEN):
            if worst in each:
                return worst
        return Verdict.HOLDS


def _more(exhibit: str, better: str, other: str, paper: float | None = None, expected: str = "gain") -> Test:
    return Test(f"{better} minus {other}", exhibit, ((better, 1.0), (other, -1.0)), expected, paper)


def claims_of(scale: Scale) -> tuple[Claim, ...]:
    """The claims as the labels of a scale have them ({scale} filled in)."""
    games, steps, deep = f"{scale.words} games", scale.steps, scale.depths - 1

    def layers(kind: str, n: int) -> str:
        return f"{kind}, {n} layer{'' if n == 1 else 's'}, {games}"

    few, many = scale.layers[min(1, len(scale.layers) - 2)], scale.layers[-1]
    sims = scale.simulations
    middle = sims[len(sims) // 2] if len(sims) > 2 else sims[0]
    doublings = [log2(size) for size in scale.sizes]

    def over_data(kind: str, words: str, weights: list[float], expected: str) -> Test:
        labels = [f"{kind}, {size} games" for size in scale.sizes]
        return Test(f"{kind}: {words}", "data-size", tuple(zip(labels, weights, strict=True)), expected)

    long = "DiffuSearch, four times the record-passes"
    others = ("DiffuSearch", "S-A, the processor time of DiffuSearch") if scale.longer else ()
    longer = [_more("compute", long, other, expected="") for other in others]
    valid, policy = "Random policy", "Stockfish policy"
    world = "Random world and policy"
    return (
        Claim(
            1, "Futures beat one step at equal data", (_more("main", f"DiffuSearch, {games}", f"S-A, {games}", 19.2),)
        ),
        Claim(
            2,
            "Futures beat one step at equal data and equal processor time",
            (
                _more("compute", "DiffuSearch", "S-A, the processor time of DiffuSearch"),
                *longer,
            ),
            "The paper trains its baselines to convergence and does not compare processor time.",
        ),
        Claim(
            3,
            "States are needed: future actions alone hurt",
            (
                _more("paradigms", "S-ASA, DiffuSearch", "S-AA, DiffuSearch", 26.2),
                _more("paradigms", "S-A, Transformer", "S-AA, DiffuSearch", 7.0),
            ),
        ),
        Claim(
            4,
            "A valid world matters, the policy's quality less",
            (
                _more("future-quality", valid, world, 16.8),
                Test(
                    "what the world's validity brings, minus what the policy's quality brings",
                    "future-quality",
                    ((valid, 2.0), (world, -1.0), (policy, -1.0)),
                    paper=14.9,
                ),
            ),
        ),
        Claim(
            5,
            "Diffusion beats autoregression beats direct prediction; Gaussian diffusion lies between",
            (
                _more("training", "Absorbing, linear weight", "Autoregressive", 13.9),
                _more("training", "Autoregressive", "Direct", 6.8),
                _more("training", "Absorbing, linear weight", "Gaussian", 9.4),
                _more("training", "Gaussian", "Autoregressive", 4.5),
            ),
        ),
        Claim(
            6,
            "Linear time weights are best",
            (
                _more("training", "Absorbing, linear weight", "Absorbing, constant weight", 1.7),
                _more("training", "Absorbing, linear weight", "Absorbing, weight 1/t", 2.2),
            ),
        ),
        Claim(
            7,
            "More layers help diffusion, not S-A",
            (
                _more("layers", layers("DiffuSearch", many), layers("DiffuSearch", few), 14.7),
                _more("layers", layers("S-A", many), layers("S-A", few), -1.2, expected="no gain"),
            ),
        ),
        Claim(
            8,
            "More denoising steps help, and easy first is above random order",
            (
                _more("steps", f"confidence, {steps[-1]} steps", f"confidence, {steps[0]} steps"),
                _more("steps", f"confidence, {steps[-1]} steps", f"random, {steps[-1]} steps"),
            ),
        ),
        Claim(
            9,
            "Deeper imagination helps, search with a learned value stagnates",
            (
                _more("depth", f"future steps {deep}, separate model", "future steps 1, separate model", 4.3),
                _more("depth", f"mcts, {sims[-1]} simulations", f"mcts, {middle} simulations", expected="no gain"),
            ),
        ),
        Claim(
            10,
            "Accuracy is linear in the logarithm of the data",
            (
                over_data("DiffuSearch", "points for each doubling", slope(doublings), "gain"),
                over_data("S-A", "points for each doubling", slope(doublings), "gain"),
                over_data("DiffuSearch", "curvature", bend(doublings), "straight"),
                over_data("S-A", "curvature", bend(doublings), "straight"),
            ),
        ),
        Claim(
            11,
            "Both the training signal and imagination at play bring accuracy (one model for all depths)",
            (
                _more("depth", "future steps 0, single model", "future steps 0, separate model", 11.4),
                _more("depth", "future steps 1, single model", "future steps 0, single model", 3.4),
            ),
            "The first difference is what the futures bring as training signal, with none imagined at play.",
        ),
        Claim(
            12,
            "An explicit search with the same network beats joint denoising, at equal evaluations and at equal time",
            (
                _more("planners", IMAGINED, FOUR),
                _more("planners", TREE_IMAGINED, FOUR),
                _more("planners", IMAGINED, JOINT),
                _more("planners", JOINT, LOOK, expected=""),
                _more("planners", IMAGINED, LOOK, expected=""),
                _more("planners", f"{RULES}, the same tree", IMAGINED, expected=""),
                _more("planners", f"{RULES}, equal evaluations", IMAGINED, expected=""),
                _more("planners", f"{TREE_RULES}, equal evaluations", TREE_IMAGINED, expected=""),
                _more("planners", f"{TREE_RULES}, equal time", TREE_IMAGINED, expected=""),
                _more("planners", f"{TREE_RULES}, equal evaluations", IMAGINED, expected=""),
                _more("planners", f"{OTHER_TREE}, equal evaluations", f"{TREE_RULES}, equal evaluations", expected=""),
                _more("planners", f"{OTHER_TREE}, equal time", f"{TREE_RULES}, equal time", expected=""),
            ),
            "The question that the paper leaves open, asked of the packaged weights. They are trained for one look and "
            "for ply-by-ply decoding more than for joint denoising, so that this says little of the paper's weights.",
        ),
    )
