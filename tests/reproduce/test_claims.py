"""Verdicts: a rule on intervals."""

from __future__ import annotations

import numpy as np
import pytest

from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.claims import RULE_OF, Claim, Test, Verdict, claims_of
from diffusearch.reproduce.contrasts import Estimate, RowOutcomes
from diffusearch.reproduce.scales import SCALES

WEIGHTS = (("new", 1.0), ("old", -1.0))


@pytest.mark.parametrize(
    ("expected", "low", "high", "verdict"),
    [
        ("gain", 0.001, 0.05, Verdict.HOLDS),
        ("gain", -0.001, 0.05, Verdict.OPEN),
        ("gain", -0.03, 0.009, Verdict.FAILS),
        ("no gain", -0.01, 0.019, Verdict.HOLDS),
        ("no gain", -0.01, 0.021, Verdict.OPEN),
        ("no gain", 0.001, 0.021, Verdict.FAILS),
        ("straight", -0.019, 0.019, Verdict.HOLDS),
        ("straight", -0.021, 0.009, Verdict.OPEN),
        ("straight", -0.021, -0.001, Verdict.FAILS),
        # where both ends of a rule are met, it holds, as the rule says
        ("gain", 0.001, 0.009, Verdict.HOLDS),
        ("no gain", 0.001, 0.019, Verdict.HOLDS),
        ("straight", 0.001, 0.019, Verdict.HOLDS),
    ],
)
def test_an_interval_decides(expected: str, low: float, high: float, verdict: Verdict) -> None:
    test = Test("new minus old", "main", WEIGHTS, expected)
    assert test.verdict(Estimate((low + high) / 2, low, high)) is verdict


def test_a_claim_needs_all_of_its_tests() -> None:
    right, wrong = (np.full(100, value) for value in (True, False))
    rows = {("main", "new"): RowOutcomes((right,), ("n",)), ("main", "old"): RowOutcomes((wrong,), ("o",))}
    gain = Test("new minus old", "main", WEIGHTS)
    loss = Test("old minus new", "main", (("old", 1.0), ("new", -1.0)))
    told = Test("old minus new", "main", loss.weights, expected="")
    missing = Test("other minus old", "main", (("other", 1.0), ("old", -1.0)))
    assert Claim(1, "it", (gain,)).verdict(rows, 0.0) is Verdict.HOLDS
    assert Claim(1, "it", (gain, told)).verdict(rows, 0.0) is Verdict.HOLDS  # told without a verdict
    assert Claim(1, "it", (gain, missing)).verdict(rows, 0.0) is Verdict.MISSING
    assert Claim(1, "it", (gain, missing, loss)).verdict(rows, 0.0) is Verdict.FAILS
    assert Claim(1, "it", (gain,)).verdict(rows, spread=1.0) is Verdict.OPEN  # seeds may differ as much


def test_the_test_that_decides_is_named() -> None:
    right, wrong = (np.full(100, value) for value in (True, False))
    rows = {("main", "new"): RowOutcomes((right,), ("n",)), ("main", "old"): RowOutcomes((wrong,), ("o",))}
    gain, loss = Test("gain", "main", WEIGHTS), Test("loss", "main", (("old", 1.0), ("new", -1.0)))
    missing = Test("missing", "main", (("other", 1.0), ("old", -1.0)))
    assert Claim(1, "it", (gain, missing, loss)).decided(rows, 0.0) == (loss, Verdict.FAILS)
    assert Claim(1, "it", (gain, missing)).decided(rows, 0.0) == (missing, Verdict.MISSING)
    assert Claim(1, "it", (gain, gain)).decided(rows, 0.0)[0] is gain


@pytest.mark.parametrize("name", ["laptop", "tiny"])
def test_every_test_has_a_rule_in_words(name: str) -> None:
    expected = {test.expected for claim in claims_of(SCALES[name]) for test in claim.tests}
    assert expected == {*RULE_OF, ""}


def test_the_search_of_the_paper_decides_whether_search_stagnates() -> None:
    """The tuned one has the same networks and other settings: it is told without a verdict."""
    (claim,) = [one for one in claims_of(SCALES["laptop"]) if one.number == 9]
    searches = {test.weights[0][0]: test.expected for test in claim.tests if "simulations" in test.words}
    assert searches == {"mcts-as-published, 200 simulations": "no gain", "mcts, 200 simulations": ""}


@pytest.mark.parametrize("name", ["laptop", "tiny"])
def test_claims_name_rows_that_exist(name: str) -> None:
    scale = SCALES[name]
    exhibits = exhibits_of(scale)
    labels = {(one.name, row.label.format(scale=scale.words)) for one in exhibits.values() for row in one.rows}
    claims = claims_of(scale)
    assert [claim.number for claim in claims] == list(range(1, 13))
    for claim in claims:
        for test in claim.tests:
            assert {(test.exhibit, label) for label, _ in test.weights} <= labels
