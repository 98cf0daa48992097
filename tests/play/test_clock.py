"""Time handling without waiting: budgets, the measured speed, and whole games on a simulated clock."""

from __future__ import annotations

import random

import pytest

from diffusearch.play.clock import LEAST_TURNS, Clock, Lag, Speed, budget, fixed


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
    assert speed.careful() is None
    assert speed.steps_within(100.0, 20) == 1  # nothing measured yet: only one step is promised
    speed.measured(0.4, 20, 20)
    assert speed.steps_within(100.0, 20) == 20
    assert 1 <= speed.steps_within(0.1, 20) < 5
    assert speed.steps_within(-1.0, 20) == 0
    assert speed.steps_within(0.31, 20, lambda steps: steps * steps) == 3  # 0.03 s to plan with, ten evaluations
    for _ in range(30):
        speed.measured(4.0, 20, 20)  # the machine became ten times slower
    assert speed.figures is not None
    assert speed.figures[0] == pytest.approx(0.2, rel=0.05)
    careful = speed.careful()
    assert careful is not None
    speed.relax()
    assert speed.careful() == pytest.approx(0.8 * careful)
    speed.measured(4.8, 20, 20)  # 0.24 a step: brings the mean of 0.16 back up
    speed.measured(float("nan"), 20, 20)
    speed.measured(1.0, 0, 0)
    assert 0.16 < speed.figures[0] < 0.2


def tree(steps: int) -> int:
    """Evaluations of a tree 4x2x2x1, as deep as the steps reach."""
    return next((work + steps - calls for calls, work in ((9, 89), (7, 57), (5, 25), (3, 9)) if calls <= steps), steps)


def cost(call: float, further: float, steps: int) -> float:
    return call * steps + further * (tree(steps) - steps)


@pytest.mark.parametrize(("call", "further"), [(0.015, 0.0012), (0.01, 0.01), (0.02, 0.0), (0.001, 0.003)])
@pytest.mark.parametrize("shown", [3, 5, 9])
def test_the_cost_of_calls_and_that_of_batches_are_told_apart(call: float, further: float, shown: int) -> None:
    """From one look and a tree of one depth follows what all others cost."""
    speed = Speed()
    for _ in range(40):
        speed.measured(call, 1, 1)
        speed.measured(cost(call, further, shown), shown, tree(shown))
    assert speed.figures == pytest.approx([call, further], rel=1e-3, abs=1e-5)
    assert speed.deviation < 1e-3
    for steps in range(1, 10):
        assert speed.careful(steps, tree(steps)) == pytest.approx(cost(call, further, steps), rel=0.01)
        assert speed.steps_within(1.02 * cost(call, further, steps), 9, tree) >= steps
    assert speed.steps_within(0.98 * cost(call, further, 9), 9, tree) < 9


def test_a_plan_that_may_be_overrun_holds_on_average_and_its_end_surely() -> None:
    speed = Speed()
    speed.measured(0.01, 1, 1)  # as unsure as at first: half as much again to be careful with
    assert speed.careful() == pytest.approx(0.015)
    assert speed.steps_within(0.1, 20) == 6  # no later than that: surely
    assert speed.steps_within(0.1, 20, latest=0.3) == 10  # on average, and surely within three times the plan
    assert speed.steps_within(0.1, 20, latest=0.12) == 8  # surely till then
    assert speed.steps_within(-0.1, 20, latest=0.3) == 0


def test_without_one_look_nothing_is_thought_to_be_saved() -> None:
    speed = Speed()
    speed.measured(0.9, 1, 9)
    assert speed.figures == pytest.approx([0.1, 0.1])
    unseen = Speed()
    unseen.measured(0.1, 1, 1)
    assert unseen.steps_within(1.4, 9, tree) == 3  # a tree of nine evaluations takes 0.9 s, with care 1.35 s
    assert unseen.steps_within(1.3, 9, tree) == 2
    unseen.relax_batches()
    assert unseen.figures == pytest.approx([0.1, 0.08])


@pytest.mark.parametrize("shapes", [(3, 5, 7, 9), (5,)])
@pytest.mark.parametrize("seed", range(3))
def test_under_noise_the_plan_is_careful_and_not_timid(seed: int, shapes: tuple[int, ...]) -> None:
    """Times from 0.8 to 1.5 of the usual; also for the whole tree when only a shorter one was ever seen."""
    lots = random.Random(seed)
    speed = Speed()
    late, plans = [], []
    for move in range(400):
        steps = lots.choice(shapes)
        speed.measured(0.015 * lots.uniform(0.8, 1.5), 1, 1)
        planned, took = speed.careful(steps, tree(steps)), cost(0.015, 0.0012, steps) * lots.uniform(0.8, 1.5)
        whole = speed.careful(9, 89)
        assert planned is not None
        assert whole is not None
        if move >= 10:
            late.append(took > planned)
            plans.append(whole / (1.15 * cost(0.015, 0.0012, 9)))
        speed.measured(took, steps, tree(steps))
    assert sum(late) < 0.12 * len(late)
    assert 0.8 < min(plans) < max(plans) < 2.0
    assert 1.1 < sum(plans) / len(plans) < 1.5


def test_a_tree_that_seemed_too_dear_is_tried_again() -> None:
    speed = Speed()
    speed.measured(0.015, 1, 1)
    speed.measured(3.0, 5, 25)  # once, something else ran
    assert speed.steps_within(0.2, 20, tree) <= 2
    for _ in range(20):
        speed.relax_batches()
        speed.measured(0.015, 1, 1)
    assert speed.steps_within(0.2, 20, tree) >= 5


@pytest.mark.parametrize(("base", "increment", "often"), [(1.0, 0.05, 0.0), (10.0, 0.1, 0.8), (60.0, 0.6, 0.95)])
@pytest.mark.parametrize("seed", range(3))
def test_trees_are_used_where_there_is_time_and_no_game_is_lost(
    base: float, increment: float, often: float, seed: int
) -> None:
    """100 moves with 15 ms a call and 1.2 ms a further position; `often`: the share of moves with a tree at least."""
    lots = random.Random(seed)
    speed, looks = Speed(), Speed()
    left, fans = base, 0
    speed.measured(0.02, 1, 1)
    for steps in (3, 9):
        speed.measured(cost(0.015, 0.0012, steps), steps, tree(steps))
    for _ in range(100):
        plan = budget(Clock(left, increment), overhead=0.02, least=looks.careful() or 0.0)
        look = 0.02 * lots.uniform(0.8, 1.5)  # a call on its own has some more to do
        looks.measured(look, 1, 1)
        steps = speed.steps_within(plan.optimum - look, 20, tree, plan.maximum - look)
        full = cost(0.015, 0.0012, min(steps, 9)) * lots.uniform(0.8, 1.5) if steps > 1 else 0.0
        if steps > 1:
            speed.measured(full, min(steps, 9), tree(min(steps, 9)))
        else:
            speed.measured(look, 1, 1)
        if steps <= 2:
            speed.relax_batches()
        fans += steps > 2
        left -= look + min(full, max(0.0, plan.maximum - look)) + 0.005
        assert left > 0.0
        left += increment
    assert fans >= 100 * often


@pytest.mark.parametrize(("base", "increment"), [(1.0, 0.05), (10.0, 0.1), (10.0, 0.0), (60.0, 0.0)])
@pytest.mark.parametrize("step", [0.0005, 0.004, 0.02])  # seconds per denoising step
@pytest.mark.parametrize("seed", range(5))
def test_no_simulated_game_is_lost_on_time(base: float, increment: float, step: float, seed: int) -> None:
    """200 moves with noisy steps, a lag of 5 ms to the GUI, and now and then a step that is five times slower."""
    lots = random.Random(seed)
    speed = Speed()
    left, spent_steps = base, 0
    for _ in range(200):
        plan = budget(Clock(left, increment), overhead=0.02, least=speed.careful() or 0.0)
        look = step * lots.uniform(0.8, 1.5)
        steps = speed.steps_within(plan.optimum - look, 20, latest=plan.maximum - look)
        full = sum(step * (lots.uniform(0.8, 1.5) if lots.random() > 0.02 else 5.0) for _ in range(steps))
        if steps > 1:
            speed.measured(full, steps, steps)
        else:
            full = 0.0
            speed.measured(look, 1, 1)
        left -= look + min(full, max(0.0, plan.maximum - look)) + 0.005
        assert left > 0.0
        left += increment
        spent_steps += steps
    if step < 0.004:
        assert spent_steps > 200  # careful, but not so careful that it never imagines


@pytest.mark.parametrize("lag", [0.002, 0.006, 0.01])
@pytest.mark.parametrize("look", [0.015, 0.06, 0.4])
def test_one_second_without_increment_lasts_a_long_game(lag: float, look: float) -> None:
    """80 moves, each with a lag that only the GUI's clock shows: first looks are given up before time is."""
    measured, left, looks = Lag(), 1.0, 0
    for played in range(80):
        plan = budget(Clock(left), overhead=0.05, least=look, turn=measured.turn, played=played)
        cost = lag + (look if look <= plan.flag else 0.001)
        looks += look <= plan.flag
        left -= cost
        assert left > 0.0
        measured.measured(cost - look + Lag.OWN if look <= plan.flag else cost)
    if lag + look < 0.022:
        assert looks > 10  # careful, but not so careful that it never looks


def test_the_margin_for_lags_comes_from_their_spread() -> None:
    """Most wake-ups are quick and some slow, as beside a busy program: the sum over the moves put aside is covered."""
    lots, short, games = random.Random(5), 0, 200

    def draw() -> float:
        return 0.001 if lots.random() < 0.8 else lots.uniform(0.01, 0.04)

    for _ in range(games):
        lag = Lag()
        for _ in range(60):
            lag.measured(draw())
        short += sum(draw() for _ in range(LEAST_TURNS)) > LEAST_TURNS * lag.turn
    assert short <= 0.15 * games


def test_a_lag_is_learnt_from_the_clocks_and_adjournments_are_not() -> None:
    lag = Lag()
    for _ in range(200):
        lag.measured(0.02)
    lag.measured(3600.0)
    lag.measured(-1.0)
    assert lag.turn == pytest.approx(0.02, rel=0.01)  # without spread no margin is needed
    early, late = (budget(Clock(1.0), 0.05, turn=0.01, played=played).flag for played in (0, 60))
    assert early == pytest.approx(0.95 - 90 * 0.01)
    assert late == pytest.approx(0.285)  # fewer moves are still to come
