"""Contrasts of rows: values and intervals by hand, seeds, slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diffusearch.evaluation.intervals import Z95
from diffusearch.reproduce.contrasts import (
    RowOutcomes,
    Spread,
    accuracy_of,
    bow,
    contrast,
    line_gain,
    seed_spread,
    slope,
    student95,
)


def outcomes(text: str, *more: str, run: str = "a") -> RowOutcomes:
    """A row with a line of outcomes for each seed; without a run it is an engine."""
    seeds = tuple(np.array([one == "1" for one in row]) for row in (text, *more))
    return RowOutcomes(seeds, (run,) if run else ())


def test_a_difference_is_paired_by_position() -> None:
    rows = {"a": outcomes("1110"), "b": outcomes("1000", run="b")}
    found = contrast(rows, {"a": 1.0, "b": -1.0}, spread=0.0)
    each = np.array([0, 1, 1, 0])
    half = Z95 * each.std(ddof=1) / 2
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))


def test_every_run_adds_the_spread_of_its_seeds() -> None:
    rows = {"a": outcomes("1100", "1100"), "b": outcomes("1100", run="b")}  # no position differs
    found = contrast(rows, {"a": 1.0, "b": -1.0}, spread=0.02)
    assert found.value == 0.0
    assert found.high == pytest.approx(Z95 * math.sqrt(0.02**2 / 2 + 0.02**2))


def test_one_run_decoded_in_two_ways_has_no_spread_of_seeds() -> None:
    rows = {"a": outcomes("1100"), "b": outcomes("1100")}
    found = contrast(rows, {"a": 1.0, "b": -1.0}, spread=0.5)
    assert (found.low, found.high) == (0.0, 0.0)


def test_the_spread_is_pooled_over_recipes_with_several_seeds() -> None:
    twice = outcomes("1100", "1000")  # 50 and 25 %: variance 1/32 with one degree of freedom
    assert seed_spread([twice, outcomes("1111", run="b")]) == Spread(pytest.approx(math.sqrt(1 / 32)), (2,))
    both = seed_spread([twice, outcomes("1111", "1111", run="b")])
    assert both == Spread(pytest.approx(math.sqrt(1 / 64)), (2, 2))
    assert both.freedom == 2
    assert seed_spread([outcomes("1111")]) == Spread()
    assert Spread().wide == 0.0


def test_the_ways_to_decode_a_run_count_together() -> None:
    one, other = outcomes("1100", "1000"), outcomes("1100", "1100")
    assert seed_spread([one, other]) == Spread(pytest.approx(math.sqrt(1 / 64)), (2,))
    fewer, engine = outcomes("1111"), outcomes("1111", "0000", run="")
    assert seed_spread([fewer, one, engine]) == seed_spread([one])


def test_few_runs_make_the_spread_wide() -> None:
    few, many = Spread(0.01, (2,)), Spread(0.01, (30, 30))
    assert few.wide == pytest.approx(0.01 * 12.706 / Z95)
    assert many.wide == pytest.approx(0.01 * 2.0017 / Z95, rel=1e-3)
    assert student95(10) > student95(11) == pytest.approx(2.201, abs=5e-3)


def test_two_ways_to_decode_are_compared_on_the_seeds_that_both_have() -> None:
    rows = {"all": outcomes("1100", "1111"), "first": outcomes("1000")}
    assert contrast(rows, {"all": 1.0, "first": -1.0}, spread=0.5).value == pytest.approx(0.25)
    other = rows | {"first": outcomes("1000", run="b")}
    assert contrast(other, {"all": 1.0, "first": -1.0}, spread=0.5).value == pytest.approx(0.5)


def test_engines_and_packaged_weights_have_no_spread_of_seeds() -> None:
    rows = {"a": outcomes("1100", run=""), "b": outcomes("1100")}
    assert contrast(rows, {"a": 1.0}, 0.5) == contrast(rows, {"a": 1.0}, 0.0)
    assert contrast(rows, {"b": 1.0}, 0.5) != contrast(rows, {"b": 1.0}, 0.0)


def test_one_seed_has_the_interval_of_wilson_and_the_spread_of_seeds() -> None:
    low = 4 / (4 + Z95**2)
    engine = accuracy_of(outcomes("1111", run=""), spread=0.1)
    assert (engine.value, engine.high) == (1.0, 1.0)
    assert engine.low == pytest.approx(low)
    trained = accuracy_of(outcomes("1111"), spread=0.1)
    assert trained.high == 1.0
    assert trained.low == pytest.approx(1 - math.hypot(1 - low, Z95 * 0.1))


def test_an_accuracy_stays_between_none_and_all() -> None:
    found = accuracy_of(outcomes("1111", "1111"), spread=0.5)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.0 <= found.low < 1.0


def test_one_position_decides_nothing() -> None:
    found = contrast({"a": outcomes("1"), "b": outcomes("0", run="b")}, {"a": 1.0, "b": -1.0}, spread=0.0)
    assert found.low < 0.0 < found.value


def test_slope_gain_and_bow_read_a_parabola() -> None:
    xs = [1.0, 2.0, 4.0, 5.0]
    line, parabola = ([3 + 2 * x for x in xs], [1 - x + 0.5 * x * x for x in xs])
    assert np.dot(slope(xs), line) == pytest.approx(2.0)
    assert np.dot(line_gain(xs), line) == pytest.approx(8.0)  # from 1 to 5
    assert np.dot(bow(xs), line) == pytest.approx(0.0, abs=1e-12)
    chord, middle = (1 - 1 + 0.5 + 1 - 5 + 12.5) / 2, 1 - 3 + 4.5
    assert np.dot(bow(xs), parabola) == pytest.approx(middle - chord)
