"""Ray's start and results as sentences. Played with a Ray that says what it is told; no cluster is started here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from diffusearch.errors import UserError
from diffusearch.ray_cluster import connect, ray_result


class SlowRay:
    """A Ray whose start runs out of time at first, as it does on a busy machine."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.starts = 0

    def init(self, **_: object) -> None:
        self.starts += 1
        if self.starts <= self.failures:
            raise Exception("The current node timed out during startup.")

    def shutdown(self) -> None: ...


def test_a_start_that_takes_too_long_is_tried_again() -> None:
    ray = SlowRay(2)
    connect(ray, "local", 2)
    assert ray.starts == 3
    with pytest.raises(UserError, match=r"Ray did not start here in 5 attempts .*timed out"):
        connect(SlowRay(9), "local", 2)


class RayTaskError(Exception):
    """As Ray's: its text is a traceback of the worker."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("ray::play() (pid=7, ip=127.0.0.1) File worker.py, line 3")
        self.cause = cause


class WorkerCrashedError(Exception): ...


class OutOfMemoryError(Exception): ...


class Answering:
    """A Ray whose tasks end in an error."""

    exceptions = SimpleNamespace(
        RayTaskError=RayTaskError, WorkerCrashedError=WorkerCrashedError, OutOfMemoryError=OutOfMemoryError
    )

    def get(self, reference: Exception) -> None:
        raise reference


def test_the_sentence_of_a_task_comes_without_the_traceback_of_its_worker() -> None:
    with pytest.raises(UserError, match=r"^No agent 'x'\.$"):
        ray_result(Answering(), RayTaskError(UserError("No agent 'x'.")))
    with pytest.raises(RayTaskError, match=r"worker\.py"):  # a fault of the program keeps its place
        ray_result(Answering(), RayTaskError(KeyError("x")))


@pytest.mark.parametrize("error", [WorkerCrashedError(), OutOfMemoryError()])
def test_the_death_of_a_worker_is_a_sentence(error: Exception) -> None:
    with pytest.raises(UserError, match=r"^a worker died; look for lack of memory"):
        ray_result(Answering(), error)
    with pytest.raises(UserError, match=r"^5 workers died$"):
        ray_result(Answering(), error, "5 workers died")
