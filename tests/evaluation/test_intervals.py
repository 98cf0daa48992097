from __future__ import annotations

import numpy as np
import pytest

from diffusearch.evaluation.intervals import Share, percentile_interval, wilson


def test_wilson_matches_a_worked_example() -> None:
    # 10 of 20 by hand: the centre is 0.5, half the width 1.95996 * sqrt(0.0125 + 0.0024009) / 1.19207 = 0.20070
    low, high = wilson(10, 20)
    assert low == pytest.approx(0.29930, abs=1e-5)
    assert high == pytest.approx(0.70070, abs=1e-5)


def test_wilson_at_the_ends_stays_inside() -> None:
    assert wilson(0, 10)[0] == 0.0
    assert wilson(0, 10)[1] == pytest.approx(0.27753, abs=1e-5)  # z^2 / (n + z^2)
    assert wilson(10, 10) == pytest.approx((1 - 0.27753, 1.0), abs=1e-5)
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_covers_the_truth_about_95_times_in_100() -> None:
    hits = np.random.default_rng(0).binomial(200, 0.3, size=2000)
    covered = sum(low <= 0.3 <= high for low, high in (wilson(int(h), 200) for h in hits)) / 2000
    assert 0.93 < covered < 0.97


def test_share_counts() -> None:
    share = Share.of([True, False, True, True])
    assert share.to_json() == {"n": 4, "accuracy": 0.75, "interval": list(wilson(3, 4))}
    assert Share.of([]).accuracy == 0.0


def test_percentile_interval() -> None:
    assert percentile_interval(np.arange(1001.0)) == pytest.approx((25.0, 975.0))
