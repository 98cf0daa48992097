"""Jobs of `reproduce all`, done in this process, in several, or on a Ray cluster with a shared disk.

A job is a picklable object that is called. Jobs may be killed at any moment: each goes on where it was when it is
called again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import TypeVar

from diffusearch.errors import UserError

Job = Callable[[], str]  # does its work and says what was done
T = TypeVar("T")


def run(jobs: Sequence[Job], processes: int = 1, ray: bool = False) -> Iterator[str]:
    """What each job says, as soon as it is done; several are done at once, begun in the given order."""
    if ray:
        return _on_ray(jobs)
    return _in_processes(jobs, processes) if processes > 1 else (job() for job in jobs)


def _call(job: Job) -> str:
    return job()


def _begin(parent: int) -> None:
    """One thread a process, and no process without its parent: a killed command leaves nothing behind that works."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _in_processes(jobs: Sequence[Job], processes: int) -> Iterator[str]:
    context = multiprocessing.get_context("spawn")  # torch and engines do not survive a fork
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(os.getpid(),)) as pool:
        waiting = {pool.submit(_call, job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def _on_ray(jobs: Sequence[Job]) -> Iterator[str]:
    try:
        import ray
    except ImportError as error:
        raise UserError("Ray is not installed: install diffusearch[cluster] or leave out --ray.") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    remote = ray.remote(_call)
    waiting = [remote.remote(job) for job in jobs]
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        yield from ray.get(done)
