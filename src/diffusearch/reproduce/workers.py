"""Jobs of `reproduce all`, done in this process, in several, or on a Ray cluster with a shared disk.

A job is a picklable object that is called. Jobs may be killed at any moment: each goes on where it was when it is
called again. What is next is asked for when a worker is free, so that a job that has become possible comes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from diffusearch.ray_cluster import ray_result, start_ray
from diffusearch.worker_pool import worker_pool

GRACE = 10.0  # seconds that a worker has to end by itself: a second signal would keep it from writing a checkpoint


@dataclass(frozen=True)
class Done:
    """What a job says at its end."""

    words: str
    kind: str  # training or measuring
    processor_seconds: float


Job = Callable[[], Done]
Take = Callable[[], Job | None]  # gives the next job; None where none is possible now


def run(take: Take, processes: int = 1, ray: bool = False) -> Iterator[Done]:
    """What each job says, as soon as it is done, until none is left."""
    if ray:
        return _on_ray(take)
    return _in_processes(take, processes) if processes > 1 else _here(take)


def _here(take: Take) -> Iterator[Done]:
    while (job := take()) is not None:
        yield job()


def _call(job: Job) -> Done:
    return job()


def _in_processes(take: Take, processes: int) -> Iterator[Done]:
    with worker_pool(processes, GRACE) as pool:
        running: set[Future[Done]] = set()
        while True:
            while len(running) < processes and (job := take()) is not None:
                running.add(pool.submit(_call, job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def _on_ray(take: Take) -> Iterator[Done]:
    ray, _ = start_ray("--ray")
    resources: dict[str, float] = ray.cluster_resources()
    remote, processes = ray.remote(_call), int(resources.get("CPU", 1))
    running: list[Any] = []
    while True:
        while len(running) < processes and (job := take()) is not None:
            running.append(remote.remote(job))
        if not running:
            return
        done, running = ray.wait(running, num_returns=1)
        yield from ray_result(ray, done)
