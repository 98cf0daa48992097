"""Time handling without waiting: budgets, the measured speed, and whole games on a simulated clock."""

from __future__ import annotations

import random

import pytest

from diffusearch.play.clock import Clock, Speed, budget, fixed


@pytest.mark.parametrize("remaining", [0.0, 0.02, 0.3, 1.0, 60.0, 5400.0])
@pytest.mark.parametrize("increment", [0.0, 0.05, 30.0])
@pytest.mark.parametrize("moves_to_go", [None, 1, 2, 40, 500])
def test_a_budget_never_promises_more_than_the_clock_has(
    remaining: float, increment: float, moves_to_go: int | None
) -> None:
    plan = budget(Clock(remaining, increment, moves_to_go), overhead=0.05)
    assert 0.0 <= plan.optimum <= plan.maximum <= max(0.0, remaining - 0.05)


def test_more_time_never_makes_a_smaller_budget() -> None:
    plans = [budget(Clock(t / 10, 0.1), 0.05).optimum for t in range(600)]
    assert plans == sorted(plans)
    assert budget(Clock(60, 1.0), 0.05).optimum > budget(Clock(60, 0.0), 0.05).optimum
    assert budget(Clock(60, 0.0, 5), 0.05).optimum > budget(Clock(60, 0.0, 40), 0.05).optimum


def test_movetime_is_used_up_less_the_overhead() -> None:
    assert fixed(2.0, 0.05).optimum == pytest.approx(1.95)
    assert 0 < fixed(0.01, 0.05).maximum < 0.01


def test_speed_is_measured_and_follows_the_machine() -> None:
    speed = Speed()
    assert speed.steps_within(100.0, 20) == 1  # nothing measured yet: only one step is promised
    speed.measured(0.4, 20)
    assert speed.steps_within(100.0, 20) == 20
    assert 1 <= speed.steps_within(0.1, 20) < 5
    assert speed.steps_within(-1.0, 20) == 0
    assert speed.steps_within(0.31, 20, lambda steps: steps * steps) == 3  # 0.03 s to plan with, ten evaluations
    for _ in range(30):
        speed.measured(4.0, 20)  # the machine became ten times slower
    assert speed.mean == pytest.approx(0.2, rel=0.05)
    careful = speed.careful
    assert careful is not None
    speed.relax()
    assert speed.careful == pytest.approx(0.8 * careful)
    speed.measured(4.8, 20)  # 0.24 a step: brings the mean of 0.16 back up
    speed.measured(float("nan"), 20)
    speed.measured(1.0, 0)
    assert speed.mean == pytest.approx(0.18, rel=0.05)


@pytest.mark.parametrize(("base", "increment"), [(1.0, 0.05), (10.0, 0.1), (10.0, 0.0), (60.0, 0.0)])
@pytest.mark.parametrize("step", [0.0005, 0.004, 0.02])  # seconds per denoising step
@pytest.mark.parametrize("seed", range(5))
def test_no_simulated_game_is_lost_on_time(base: float, increment: float, step: float, seed: int) -> None:
    """200 moves with noisy steps, a lag of 5 ms to the GUI, and now and then a step that is five times slower."""
    lots = random.Random(seed)
    speed = Speed()
    left, spent_steps = base, 0
    for _ in range(200):
        plan = budget(Clock(left, increment), overhead=0.02, least=speed.careful or 0.0)
        glance = step * lots.uniform(0.8, 1.5)
        steps = speed.steps_within(plan.optimum - glance, 20)
        full = sum(step * (lots.uniform(0.8, 1.5) if lots.random() > 0.02 else 5.0) for _ in range(steps))
        if steps > 1:
            speed.measured(full, steps)
        else:
            full = 0.0
            speed.measured(glance, 1)
        left -= glance + min(full, max(0.0, plan.maximum - glance)) + 0.005
        assert left > 0.0
        left += increment
        spent_steps += steps
    if step < 0.004:
        assert spent_steps > 200  # careful, but not so careful that it never imagines
