"""What every worker process of a pool does first: one thread, and an end when the main process ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time

PAUSE = 1.0  # seconds between two looks at the parent
ENDING = 60.0  # seconds in which a worker may finish its step and save after the signal


def begin(parent: int, grace: float = 0.0) -> None:
    """One thread a process, and no process without its parent: a killed command leaves nothing behind that works.

    `parent` is the process id of the main process. After its end a worker has `grace` seconds to end by itself.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"

    def watch() -> None:
        while _runs(parent):
            time.sleep(PAUSE)
        time.sleep(grace)
        if sys.platform == "win32":
            signal.raise_signal(signal.SIGTERM)  # os.kill would end the process before a training has noted anything
        else:
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(ENDING)
        # A training notes the signal and ends its step; its worker then waits for a job that nobody will send.
        os._exit(128 + signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _runs(parent: int) -> bool:
    """Whether the main process still runs. A process without it gets another parent, but not on Windows.

    What multiprocessing has started knows the end of its parent everywhere, by a handle or a pipe.
    """
    starter = multiprocessing.parent_process()
    return os.getppid() == parent and (starter is None or starter.is_alive())
