"""The queue of `reproduce all`: what is next is asked for when a worker is free."""

from __future__ import annotations

from functools import partial

import pytest

from diffusearch.reproduce.workers import Done, Job, run

RUNS = ("a", "b", "c", "d")


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_job_makes_possible_comes_before_the_next(processes: int) -> None:
    """Measurements become possible when their run is trained, and go before the training of the other runs."""
    begun: list[str] = []
    said: list[str] = []

    def take() -> Job | None:
        possible = [f"{name} measured" for name in RUNS if name in said]
        for name in (*possible, *RUNS):
            if name not in begun:
                begun.append(name)
                return partial(Done, name, "training", 1.0)
        return None

    for done in run(take, processes):
        said.append(done.words)
    everything = sorted([*RUNS, *(f"{name} measured" for name in RUNS)])
    assert sorted(said) == sorted(begun) == everything
    assert begun.index("a measured") <= 2 * processes
    if processes == 1:
        assert said == [word for name in RUNS for word in (name, f"{name} measured")]


def test_nothing_to_do() -> None:
    assert list(run(lambda: None, 2)) == []
