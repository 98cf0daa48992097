"""Scores, win probabilities and bins."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.tokens.values import BIN_VALUES, BINS, bin_value, centipawns, value_bin, win_probability


def test_known_points_of_the_curve() -> None:
    assert win_probability(0, None) == 0.5
    assert win_probability(100, None) == pytest.approx(0.591, abs=0.001)
    assert win_probability(-100, None) == pytest.approx(1 - win_probability(100, None))


def test_mates_are_certain() -> None:
    assert win_probability(None, 3) == 1.0
    assert win_probability(None, -1) == 0.0
    assert win_probability(None, 0) == 0.0  # the side to move is mated already
    with pytest.raises(ValueError):
        win_probability(None, None)


def test_bins_and_their_middles_are_inverses() -> None:
    assert [value_bin(bin_value(index)) for index in range(BINS)] == list(range(BINS))
    assert [float(v) for v in BIN_VALUES] == pytest.approx([bin_value(index) for index in range(BINS)])
    assert value_bin(0.0) == 0
    assert value_bin(1.0) == BINS - 1
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError):
            value_bin(bad)
    for index in (-1, BINS):
        with pytest.raises(ValueError):
            bin_value(index)


@settings(deadline=None)
@given(st.floats(0, 1))
def test_a_bin_is_near_its_value(probability: float) -> None:
    assert abs(bin_value(value_bin(probability)) - probability) <= 0.5 / BINS + 1e-12


@settings(deadline=None)
@given(st.integers(-3000, 3000))
def test_centipawns_come_back(cp: int) -> None:
    assert centipawns(win_probability(cp, None)) == cp


def test_certain_results_have_a_score_too() -> None:
    assert centipawns(1.0) == -centipawns(0.0)
    assert 5000 < centipawns(1.0) <= 9999
