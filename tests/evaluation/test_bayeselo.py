from __future__ import annotations

import math

import numpy as np
import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.bayeselo import Counts, Fit, expected, fit
from diffusearch.evaluation.ratings import RatedGame, rate


def counts(*rows: tuple[int, int, float, float, float]) -> Counts:
    table = np.array(rows, dtype=float)
    return Counts(table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2], table[:, 3], table[:, 4])


def test_two_players_by_hand_without_first_move_advantage() -> None:
    # A wins half, draws a quarter, loses a quarter with either colour. With as many parameters as shares the maximum
    # meets the shares: f(D - d) = 1/2 gives D = d, f(-D - d) = 1/4 gives D + d = 400 log10 3 = 190.85; D = d = 95.42.
    one = fit(counts((0, 1, 50, 25, 25), (1, 0, 25, 25, 50)), 2, prior=0)
    assert one.ratings[0] - one.ratings[1] == pytest.approx(200 * math.log10(3), abs=1e-4)
    assert one.draw == pytest.approx(200 * math.log10(3), abs=1e-4)
    assert one.advantage == pytest.approx(0, abs=1e-4)
    assert one.ratings.sum() == pytest.approx(0, abs=1e-9)


def test_two_equal_players_by_hand_with_first_move_advantage() -> None:
    # White wins half, a quarter is drawn, Black wins a quarter, whoever sits there: now the 95.42 are the first move's.
    one = fit(counts((0, 1, 50, 25, 25), (1, 0, 50, 25, 25)), 2, prior=0)
    assert one.ratings == pytest.approx([0, 0], abs=1e-4)
    assert one.advantage == pytest.approx(95.42, abs=0.01)
    assert one.draw == pytest.approx(95.42, abs=0.01)
    assert expected(one, 0, 1) == pytest.approx((0.5, 0.25, 0.25), abs=1e-6)


def test_no_draws_is_plain_elo() -> None:
    one = fit(counts((0, 1, 3, 0, 1), (1, 0, 1, 0, 3)), 2, prior=0)
    assert one.draw == 0
    assert one.ratings[0] - one.ratings[1] == pytest.approx(400 * math.log10(3), abs=1e-4)


def test_the_maximum_is_a_maximum() -> None:
    data = counts((0, 1, 7, 5, 2), (1, 0, 3, 6, 5), (0, 2, 9, 3, 1), (2, 0, 2, 4, 8), (1, 2, 6, 4, 4), (2, 1, 5, 5, 4))
    best = fit(data, 3, prior=0)

    def likelihood(one: Fit) -> float:
        total = 0.0
        for white, black, w, d, losses in zip(data.white, data.black, data.wins, data.draws, data.losses, strict=True):
            win, draw, loss = expected(one, int(white), int(black))
            total += w * math.log(win) + d * math.log(draw) + losses * math.log(loss)
        return total

    top = likelihood(best)
    for move in ([1, 0, 0], [0, 1, 0], [0, 0, 1]):
        for sign in (-3, 3):
            moved = Fit(best.ratings + sign * np.array(move), best.advantage, best.draw)
            assert likelihood(moved) < top
    assert likelihood(Fit(best.ratings, best.advantage + 3, best.draw)) < top
    assert likelihood(Fit(best.ratings, best.advantage, best.draw - 3)) < top


def test_a_clean_sweep_needs_the_prior() -> None:
    sweep = counts((0, 1, 10, 0, 0), (1, 0, 0, 0, 10))
    with pytest.raises(UserError, match="no maximum"):
        fit(sweep, 2, prior=0)
    with pytest.raises(UserError, match="no maximum"):  # draws alone do not hold anybody back either
        fit(counts((0, 1, 10, 3, 0), (1, 0, 0, 3, 10)), 2, prior=0)
    small, large = fit(sweep, 2, prior=2), fit(sweep, 2, prior=8)
    assert 200 < large.ratings[0] - large.ratings[1] < small.ratings[0] - small.ratings[1] < 2000
    with pytest.raises(UserError, match="at least two players"):
        fit(counts((0, 1, 0, 0, 0)), 2)


def test_the_prior_fills_colours_that_were_not_played() -> None:
    one = fit(counts((0, 1, 5, 1, 1)), 2, prior=2)
    assert np.isfinite(one.ratings).all()
    assert one.advantage + one.ratings[0] > 0


def simulate(truth: list[float], advantage: float, draw: float, openings: int, seed: int) -> list[RatedGame]:
    dice = np.random.default_rng(seed)
    model = Fit(np.array(truth), advantage, draw)
    games = []
    for first in range(len(truth)):
        for second in range(first + 1, len(truth)):
            for opening in range(openings):
                for white, black in ((first, second), (second, first)):
                    points = float(dice.choice([1.0, 0.5, 0.0], p=expected(model, white, black)))
                    games.append(RatedGame(str(white), str(black), points, opening))
    return games


def test_simulated_players_of_known_strength_are_found() -> None:
    truth = [-220.0, -60.0, 30.0, 250.0]
    ratings = rate(simulate(truth, 35, 97, 400, seed=1), ["0", "1", "2", "3"], replicas=200, seed=0)
    assert ratings.elo == pytest.approx(truth, abs=30)
    assert ratings.fit.advantage == pytest.approx(35, abs=12)
    assert ratings.fit.draw == pytest.approx(97, abs=12)
    inside = sum(low <= true <= high for true, (low, high) in zip(truth, ratings.intervals, strict=True))
    assert inside >= 3
    assert all(10 < high - low < 60 for low, high in ratings.intervals)
    assert ratings.order() == [3, 2, 1, 0]
    assert ratings.los[3, 0] == 1.0
    assert ratings.los[0, 3] == 0.0
    assert np.allclose(ratings.los + ratings.los.T, 1)


@pytest.mark.slow
def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(40):
        ratings = rate(simulate([-50.0, 50.0], 30, 90, 60, seed), ["0", "1"], prior=0, replicas=100, seed=seed)
        low, high = ratings.intervals[1]
        covered += low <= 50 <= high
    assert 34 <= covered <= 40


def test_pairs_are_drawn_together() -> None:
    # Every opening is won by White twice: each pair is 1-1, so resampling pairs cannot change the score at all.
    games = [RatedGame(w, b, 1.0, opening) for opening in range(20) for w, b in (("a", "b"), ("b", "a"))]
    ratings = rate(games, ["a", "b"], replicas=50)
    assert ratings.intervals[0] == pytest.approx((0, 0), abs=1e-6)
    assert ratings.los[0, 1] == pytest.approx(0.5, abs=0.5)


def test_anchor_shifts_the_scale() -> None:
    games = simulate([0.0, 100.0], 30, 90, 30, seed=2)
    free = rate(games, ["0", "1"], replicas=10)
    held = rate(games, ["0", "1"], replicas=10, anchors={"0": 1500})
    assert held.elo[0] == 1500
    assert held.intervals[0] == (1500, 1500)
    assert held.elo[1] - held.elo[0] == pytest.approx(free.elo[1] - free.elo[0])
    with pytest.raises(UserError, match="anchor 'x'"):
        rate(games, ["0", "1"], anchors={"x": 0})


def test_several_anchors_have_their_elo_on_average() -> None:
    games = simulate([0.0, 100.0, 300.0], 30, 90, 30, seed=2)
    free = rate(games, ["0", "1", "2"], replicas=10)
    held = rate(games, ["0", "1", "2"], replicas=10, anchors={"0": 1500, "2": 1900})
    assert held.elo[0] + held.elo[2] == pytest.approx(1500 + 1900)
    assert held.elo - held.elo[1] == pytest.approx(free.elo - free.elo[1])  # distances stay what the games say


def test_the_list_counts_games_and_points() -> None:
    games = [
        RatedGame("a", "b", 1.0, 0),
        RatedGame("b", "a", 0.5, 0),
        RatedGame("a", "b", 0.0, 1),
        RatedGame("b", "a", 0.0, 1),
    ]
    ratings = rate(games, ["a", "b"], replicas=5).to_json()
    first = ratings["ratings"][0]
    assert (first["agent"], first["games"], first["score"], first["draws"]) == ("a", 4, 0.625, 0.25)
    assert ratings["wins_draws_losses"][0][1] == [2, 1, 1]
