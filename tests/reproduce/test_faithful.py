"""Each row asks the network as often, and about as many variables, as its method says: real runs, counted calls.

With the paper's encoding a place is a variable: 77 of a state, 1 of a move, 1 of a value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diffusearch.reproduce.catalogue import EXHIBITS
from diffusearch.reproduce.driver import make
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.measure import Made
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.row_labels import in_steps

pytestmark = pytest.mark.slow

DEPTH, MAIN, PARADIGMS = (EXHIBITS[name] for name in ("depth", "main", "paradigms"))
STEPS, TRAINING = EXHIBITS["steps"], EXHIBITS["training"]
POSITIONS = 2
PLY = 78  # variables of a state and a move


@pytest.fixture(scope="module")
def made(calls: Any, base: Path, runs: Path, actions: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All rows of these exhibits, trained for two steps and measured on two positions."""
    rows = {row.label: row for one in (MAIN, PARADIGMS, TRAINING, STEPS) for row in one.rows if row.runs}
    rows |= {row.label: row for row in DEPTH.rows[:4]}  # the labels have four plies
    rows |= {row.label: row for row in DEPTH.rows if "single model" in row.label}
    every = Exhibit("all", "nowhere", "all", ("actions",), tuple(rows.values()))
    out = tmp_path_factory.mktemp("out")
    setting = Setting(runs=runs, out=out, recipe=base, actions=actions, limit=POSITIONS, train=True)
    return make(every, setting, say=calls.say)


def counted(calls: Any, made: Made, label: str) -> tuple[list[int], set[int], float]:
    """Records of each call, the sizes of layouts, and the evaluations that the result reports for a position."""
    seen = calls.seen[label]
    return [one for one, _ in seen], {places for _, places in seen}, made.results[label]["actions"]["evaluations"]


# what one joint denoising of the whole record takes: label -> network calls, variables
DENOISED = {
    "DiffuSearch, 10k games": (20, 4 * PLY),
    "S-ASA, DiffuSearch": (20, 4 * PLY),
    "S-ASS, DiffuSearch": (20, 4 * PLY - 3),  # one move
    "S-AVSAV, DiffuSearch": (20, 4 * (PLY + 1)),
    "Gaussian": (20, 4 * PLY),
    "Absorbing, constant weight": (20, 4 * PLY),
    "Absorbing, weight 1/t": (20, 4 * PLY),
    "Absorbing, linear weight": (20, 4 * PLY),
    "Multinomial, linear weight": (20, 4 * PLY),
    **{f"future steps {n}, single model": (20, (n + 1) * PLY) for n in range(1, 8)},
    "future steps 1, separate model": (20, 2 * PLY),
    "future steps 2, separate model": (20, 3 * PLY),
    "future steps 3, separate model": (20, 4 * PLY),
}
IN_STEPS = {in_steps(order, n): n for order in ("confidence", "random") for n in (1, 2, 5, 10, 15, 20)}


@pytest.mark.parametrize("label", DENOISED)
def test_diffusion_rows_denoise_the_whole_horizon_in_twenty_calls(calls: Any, made: Made, label: str) -> None:
    steps, variables = DENOISED[label]
    records, layouts, evaluations = counted(calls, made, label)
    assert records == [POSITIONS] * steps
    assert layouts == {variables}
    assert evaluations == steps


@pytest.mark.parametrize(("label", "variables"), [("S-AA, DiffuSearch", 81), ("S-AVAV, DiffuSearch", 85)])
def test_futures_of_few_variables_are_denoised_whole_too(calls: Any, made: Made, label: str, variables: int) -> None:
    """With fewer variables than steps the last calls may find nothing left to fix."""
    records, layouts, _ = counted(calls, made, label)
    assert layouts == {variables}
    assert variables - 77 <= len(records) <= 20


@pytest.mark.parametrize("label", IN_STEPS)
def test_steps_rows_make_as_many_calls_as_they_say(calls: Any, made: Made, label: str) -> None:
    records, layouts, evaluations = counted(calls, made, label)
    assert records == [POSITIONS] * IN_STEPS[label]
    assert layouts == {4 * PLY}
    assert evaluations == IN_STEPS[label]


def test_no_future_step_is_the_move_alone(calls: Any, made: Made) -> None:
    records, layouts, _ = counted(calls, made, "future steps 0, separate model")
    assert layouts == {PLY}
    assert set(records) == {POSITIONS}


def test_baselines_make_one_pass(calls: Any, made: Made) -> None:
    moves = 11 + 10  # legal moves of the two positions; one of the 21 mates, and the rules judge it
    for scale in ("10k games", "Transformer"):
        assert calls.seen[f"S-A, {scale}"] == [(POSITIONS, PLY)]
        assert calls.seen[f"S-V, {scale}"] == [(moves - 1, PLY)]
        assert calls.seen[f"SA-V, {scale}"] == [(moves, PLY + 1)]
    assert calls.seen["Direct"] == [(POSITIONS, 4 * PLY)]


@pytest.mark.parametrize(
    ("label", "variables"),
    [("S-AA", 81), ("S-ASA", 312), ("S-ASS", 309), ("S-AVAV", 85), ("S-AVSAV", 316)],
)
def test_autoregressive_rows_make_one_call_a_token(calls: Any, made: Made, label: str, variables: int) -> None:
    """The state is read at once, then each token but the last is fed back alone."""
    seen = calls.seen[f"{label}, Transformer"]
    assert seen == [(POSITIONS, 77)] + [(POSITIONS, 1)] * (variables - 77 - 1)


@pytest.mark.parametrize(
    "label", ["MCTS (100 simulations), 10k games", "fair MCTS, the paper's settings", "fair MCTS, tuned"]
)
def test_searches_look_at_single_positions(calls: Any, made: Made, label: str) -> None:
    records, layouts, evaluations = counted(calls, made, label)
    assert layouts == {PLY}
    assert 50 <= evaluations <= 101  # ends of games and repeated positions are not evaluated
    assert sum(records) == pytest.approx(2 * POSITIONS * evaluations, abs=2 * POSITIONS)  # a policy and a value each
