"""Contrasts of rows: values and intervals by hand, seeds, slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from diffusearch.evaluation.intervals import Z95
from diffusearch.reproduce.contrasts import RowOutcomes, accuracy_of, bend, contrast, seed_spread, slope


def outcomes(text: str, *more: str, run: str = "a") -> RowOutcomes:
    return RowOutcomes(tuple(np.array([one == "1" for one in row]) for row in (text, *more)), (run,))


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


def test_the_spread_is_pooled_over_rows_with_several_seeds() -> None:
    twice = outcomes("1100", "1000")  # 50 and 25 %: variance 1/32 with one degree of freedom
    assert seed_spread([twice, outcomes("1111")]) == pytest.approx(math.sqrt(1 / 32))
    assert seed_spread([twice, outcomes("1111", "1111")]) == pytest.approx(math.sqrt(1 / 64))
    assert seed_spread([outcomes("1111")]) == 0.0


def test_one_seed_has_the_interval_of_wilson() -> None:
    found = accuracy_of(outcomes("1111"), spread=0.5)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(4 / (4 + Z95**2))


def test_slope_and_bend_read_a_parabola() -> None:
    xs = [1.0, 2.0, 4.0, 5.0]
    line, parabola = ([3 + 2 * x for x in xs], [1 - x + 0.5 * x * x for x in xs])
    assert np.dot(slope(xs), line) == pytest.approx(2.0)
    assert np.dot(bend(xs), line) == pytest.approx(0.0, abs=1e-12)
    assert np.dot(bend(xs), parabola) == pytest.approx(0.5)
