"""Worker processes of this machine: each starts anew, holds no file of the main process and ends with it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from diffusearch.errors import UserError
from diffusearch.worker_process import begin

DIED = "a worker died; look for lack of memory, then run the same command again"


@contextmanager
def worker_pool(processes: int, grace: float = 0.0) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; a worker that dies is a UserError. `grace` is that of `begin`.

    Torch and engines do not survive a fork, and a forked worker would keep the locks of a main process that is killed.
    """
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context, initializer=begin, initargs=(os.getpid(), grace)) as pool:
            yield pool
    except BrokenProcessPool as error:
        raise UserError(DIED) from error
