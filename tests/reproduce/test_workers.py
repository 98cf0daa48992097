"""The queue of `reproduce all`: what is next is asked for when a worker is free."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from diffusearch.errors import UserError
from diffusearch.ray_cluster import connect
from diffusearch.reproduce.workers import Done, Job, run

RUNS = ("a", "b", "c", "d")


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_job_makes_possible_comes_before_the_next(processes: int) -> None:
    """Measurements become possible when their run is trained, and go before the training of the other runs."""
    begun: list[str] = []
    said: list[str] = []
    behind: dict[str, int] = {}  # how many jobs had begun when a run was done

    def take() -> Job | None:
        possible = [f"{name} measured" for name in RUNS if name in said]
        for name in (*possible, *RUNS):
            if name not in begun:
                begun.append(name)
                return partial(Done, name, "training", 1.0)
        return None

    for done in run(take, processes):
        said.append(done.words)
        behind[done.words] = len(begun)
    everything = sorted([*RUNS, *(f"{name} measured" for name in RUNS)])
    assert sorted(said) == sorted(begun) == everything
    # the jobs of other runs that were done at the same time may come before it
    assert all(begun.index(f"{name} measured") < behind[name] + processes for name in RUNS)
    if processes == 1:
        assert said == [word for name in RUNS for word in (name, f"{name} measured")]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray on this machine, with two processors."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'diffusearch[cluster]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_register_timeout_seconds", "600")
        connect(ray, "local", 2)
        yield ray
        ray.shutdown()


def wait_for(*files: Path) -> Done:
    """A job that ends when the others have begun: it makes the first file and waits for the rest."""
    files[0].touch()
    deadline = time.monotonic() + 300
    while not all(file.exists() for file in files[1:]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return Done(f"{files[0].name} of {sum(file.exists() for file in files)} in {os.getpid()}", "training", 1.0)


def killed() -> Done:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.posix
def test_a_job_whose_worker_dies_is_a_sentence() -> None:
    jobs: list[Job] = [killed]
    with pytest.raises(UserError, match=r"^a worker died; look for lack of memory, then run the same command again$"):
        list(run(lambda: jobs.pop() if jobs else None, 2))


def refused() -> Done:
    raise UserError("There are no labels: label first.")


@pytest.mark.slow
def test_jobs_on_ray_run_at_once_in_other_processes(ray: Any, tmp_path: Path) -> None:
    """As many as the cluster has processors; what a job makes possible is asked for when it is done."""
    a, b, c = (tmp_path / name for name in "abc")
    waiting: list[Job] = [partial(wait_for, a, b), partial(wait_for, b, a)]
    asked: list[int] = []
    done: list[Done] = []

    def take() -> Job | None:
        asked.append(len(done))
        if len(asked) > 2 and len(done) == 1 and not c.exists():
            c.touch()
            return partial(wait_for, c)
        return waiting.pop(0) if waiting else None

    for one in run(take, ray=True):
        done.append(one)
    assert sorted(one.words.partition(" in ")[0] for one in done) == ["a of 2", "b of 2", "c of 1"]
    assert asked[:2] == [0, 0]  # two at once, and no third
    assert asked[2] == 1
    assert str(os.getpid()) not in {one.words.rpartition(" ")[2] for one in done}


@pytest.mark.slow
def test_a_job_that_is_refused_on_ray_says_its_sentence(ray: Any) -> None:
    jobs: list[Job] = [refused]
    with pytest.raises(UserError, match=r"^There are no labels: label first\.$"):
        list(run(lambda: jobs.pop() if jobs else None, ray=True))


def test_nothing_to_do() -> None:
    assert list(run(lambda: None, 2)) == []
