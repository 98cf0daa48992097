"""The paper's claims as tests on measured rows, and the verdict on each: a rule, not an opinion.

A test is a contrast of rows (contrasts.py), and its 95 % interval decides (`RULE_OF`). A claim fails if one of its
tests fails; else it is not measured while a test is missing; else it cannot be told if a test cannot; else it holds.
Some contrasts are told without a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import log2

from diffusearch.evaluation.paper import paper_figure
from diffusearch.reproduce.contrasts import Estimate, RowOutcomes, bow, contrast, line_gain
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
from diffusearch.reproduce.row_labels import KEEP, LONG, LONG_S_A, in_steps, single, single_kept
from diffusearch.reproduce.scales import Scale

PAPER_STOPS = 50  # simulations (section 4.4)
SMALL, FLAT = 0.01, 0.02  # margins, in shares of 1
POINTS = {SMALL: "one point", FLAT: "two points"}
# What is expected of a test -> its rule in words; Test.verdict applies it.
RULE_OF = {
    "gain": f"A gain holds if its interval lies above zero; else it fails if the interval ends below {POINTS[SMALL]}.",
    "no gain": f"No gain holds if the interval ends below {POINTS[FLAT]}; else it fails if the interval lies above "
    "zero.",
    "straight": "A curve is straight if the interval of its bow (how far the middle of the fitted parabola lies above "
    f"the chord) is within {POINTS[FLAT]} of zero; else it is not if the interval leaves out zero.",
}

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
        low, high = estimate.low, estimate.high
        holds, fails = {
            "gain": (low > 0, high < SMALL),
            "no gain": (high < FLAT, low > 0),
            "straight": (low > -FLAT and high < FLAT, low > 0 or high < 0),
        }[self.expected]
        return Verdict.HOLDS if holds else Verdict.FAILS if fails else Verdict.OPEN


@dataclass(frozen=True)
class Claim:
    """A claim of the paper."""

    number: int
    words: str
    tests: tuple[Test, ...]
    remark: str = ""
    timed: tuple[tuple[str, str], ...] = ()  # the rows (exhibit, label) whose processor time the page tells

    def verdict(self, rows: Rows, spread: float) -> Verdict:
        return self.decided(rows, spread)[1]

    def decided(self, rows: Rows, spread: float) -> tuple[Test, Verdict]:
        """The first test that has the claim's verdict, and that verdict."""
        each = [(test, test.verdict(test.estimate(rows, spread))) for test in self.tests if test.expected]
        worst = (Verdict.FAILS, Verdict.MISSING, Verdict.OPEN, Verdict.HOLDS)
        return min(each, key=lambda one: worst.index(one[1]))


def _more(exhibit: str, better: str, other: str, paper: float | None = None, expected: str = "gain") -> Test:
    return Test(f"{better} minus {other}", exhibit, ((better, 1.0), (other, -1.0)), expected, paper)


def _each_doubling(kind: str) -> float:
    """The paper's points for each doubling of its games, between the two sizes whose figures it prints (Table 2)."""
    few, many = (paper_figure("main", f"{kind}, {size} games", "actions") for size in ("10k", "100k"))
    assert few is not None
    assert many is not None
    return (many - few) / log2(10)


def claims_of(scale: Scale) -> tuple[Claim, ...]:
    """The claims as the labels of a scale have them ({scale} filled in)."""
    games, steps, deep = f"{scale.words} games", scale.steps, scale.depths - 1

    def layers(kind: str, n: int) -> str:
        return f"{kind}, {n} layer{'' if n == 1 else 's'}, {games}"

    few, many = scale.layers[min(1, len(scale.layers) - 2)], scale.layers[-1]
    sims = scale.simulations
    middle = sims[len(sims) // 2] if len(sims) > 2 else sims[0]
    doublings = [log2(size) for size in scale.sizes]

    gained = f"the fitted line's gain from {scale.sizes[0]} to {scale.sizes[-1]} games"

    def over_data(kind: str, words: str, weights: list[float], expected: str) -> Test:
        labels = [f"{kind}, {size} games" for size in scale.sizes]
        return Test(f"{kind}: {words}", "data-size", tuple(zip(labels, weights, strict=True)), expected)

    longer = (_more("compute", LONG, LONG_S_A), _more("compute", LONG, "DiffuSearch", expected=""))
    valid, policy = "Random policy", "Stockfish policy"
    world = "Random world and policy"
    return (
        Claim(
            1, "Futures beat one step at equal data", (_more("main", f"DiffuSearch, {games}", f"S-A, {games}", 19.2),)
        ),
        Claim(
            2,
            "Futures beat one step at equal data and equal processor time",
            (_more("compute", "DiffuSearch", LONG_S_A), *(longer if scale.longer else ())),
            "The paper trains its baselines to convergence and does not compare processor time. No two runs here have "
            "equal times: a run of DiffuSearch with less time than the long run of S-A is tested, and one with more.",
            timed=tuple(("compute", label) for label in ("DiffuSearch", LONG_S_A, *([LONG] if scale.longer else []))),
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
                _more("training", "Absorbing, linear weight", "Direct", 20.7),
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
                _more("steps", in_steps("confidence", steps[-1]), in_steps("confidence", steps[0])),
                _more("steps", in_steps("confidence", steps[-1]), in_steps("random", steps[-1])),
                _more("decoding", f"DiffuSearch, {KEEP}", "DiffuSearch", expected=""),
            ),
            "*Confidence* is the paper's order, easy first. The same runs are decoded in two ways: the intervals are "
            "about these runs.",
        ),
        Claim(
            9,
            "Deeper imagination helps, search with a learned value stagnates",
            (
                _more("depth", f"future steps {deep}, separate model", "future steps 0, separate model", 18.3),
                _more("depth", f"future steps {deep}, separate model", "future steps 1, separate model", 4.3),
                *(
                    _more(
                        "depth", f"{word}, {sims[-1]} simulations", f"{word}, {middle} simulations", expected=expected
                    )
                    for word, expected in (("mcts-as-published", "no gain"), ("mcts", ""))
                ),
            ),
            f"The paper's search, as the authors published it, stops gaining at {PAPER_STOPS} simulations. `mcts` is a "
            "fair search with tuned settings, which the paper does not have: it is told without a verdict. Both have "
            "the same networks, and the intervals of the searches are about these networks.",
        ),
        Claim(
            10,
            "Accuracy is linear in the logarithm of the data",
            (
                over_data("DiffuSearch", gained, line_gain(doublings), "gain"),
                over_data("S-A", gained, line_gain(doublings), "gain"),
                over_data("DiffuSearch", "bow", bow(doublings), "straight"),
                over_data("S-A", "bow", bow(doublings), "straight"),
            ),
            f"From 10k to 100k games the paper gains {_each_doubling('DiffuSearch'):.1f} points a doubling for "
            f"DiffuSearch and {_each_doubling('S-A'):.1f} for S-A. Here every size has as many record-passes.",
        ),
        Claim(
            11,
            "Both the training signal and imagination at play bring accuracy (one model for all depths)",
            (
                _more("depth", single(0), "future steps 0, separate model", 11.4),
                _more("depth", single(1), single(0), 3.4),
                *(_more("decoding", single_kept(n), single(0), expected="") for n in range(1, min(4, scale.depths))),
            ),
            "The first difference is what the futures bring as training signal, with none imagined at play. The single "
            "model draws a horizon for each record, so that only some of its records are as short as all those of the "
            "separate model, and it has rotary positions. The second difference decodes one run in two ways: its "
            "interval is about this run.",
        ),
        Claim(
            12,
            "An explicit search with the same network beats joint denoising, at equal evaluations and at equal time",
            (
                _more("planners", IMAGINED, FOUR),
                _more("planners", TREE_IMAGINED, FOUR),
                _more("planners", IMAGINED, JOINT),
                _more("planners", TREE_IMAGINED, JOINT),
                _more("planners", FOUR, JOINT, expected=""),
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
            "The question that the paper leaves open, asked of the packaged weights. "
            f"`{FOUR}` has about the evaluations of `{IMAGINED}` and `{TREE_IMAGINED}`, "
            f"`{JOINT}` about their time (the table has both). The weights are trained for one look and for "
            "ply-by-ply decoding more than for joint denoising, so that this says little of the paper's weights.",
        ),
    )
