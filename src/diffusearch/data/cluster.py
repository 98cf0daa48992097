"""Labelling on many machines with Ray (optional extra `diffusearch[cluster]`): a task is a shard.

Rows return to the machine that runs the command, and only that machine writes. So no shared disk is needed, and a run
that was killed continues like a local one. Ray gives the shard of a dead worker to another worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diffusearch.data.labelling import Labeller, LabelSettings, Row
from diffusearch.data.local_workers import Progress
from diffusearch.data.plan import ShardTask
from diffusearch.errors import UserError

RETRIES = 5  # of a shard whose worker or machine died
STARTS = 5  # attempts to start Ray on this machine


def label_on_cluster(
    tasks: Iterator[ShardTask], settings: LabelSettings, address: str, workers: int, progress: Progress
) -> Iterator[tuple[ShardTask, list[Row]]]:
    """Shards as they become ready, `workers` of them at a time. The address `local` starts Ray on this machine."""
    try:
        import ray
    except ImportError as error:
        raise UserError("--cluster needs Ray; install the extra: pip install 'diffusearch[cluster]'") from error

    started = not ray.is_initialized()
    if started:
        _connect(ray, address, workers)
    remote = ray.remote(max_retries=RETRIES, num_cpus=1)(_label_shard)
    running: dict[Any, ShardTask] = {}
    try:
        while True:
            while len(running) < workers and (task := next(tasks, None)) is not None:
                running[remote.remote(task, settings)] = task
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            task = running.pop(ready[0])
            try:
                rows = ray.get(ready[0])
            except ray.exceptions.WorkerCrashedError as error:
                raise UserError(
                    f"{RETRIES} workers died on shard {task.info.index}; "
                    "look for lack of memory, then run the same command again to continue"
                ) from error
            if isinstance(rows, str):
                raise UserError(rows)
            progress(len(rows))
            yield task, rows
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        if started:
            ray.shutdown()


def _connect(ray: Any, address: str, workers: int) -> None:
    """Join the cluster at an address, or start one here; Ray gives a start 30 seconds, too few on a busy machine."""
    if address != "local":
        try:
            ray.init(address=address, log_to_driver=False)
        except ConnectionError as error:
            raise UserError(f"no Ray cluster at {address}; start one with `ray start --head` or use `local`") from error
        return
    for attempt in range(STARTS):
        try:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
            return
        except Exception as error:  # Ray raises the base class where its processes take too long
            ray.shutdown()
            if attempt == STARTS - 1:
                raise UserError(
                    f"Ray did not start here in {STARTS} attempts ({str(error)[:200]}); try `ray start --head`"
                ) from error


def _label_shard(task: ShardTask, settings: LabelSettings) -> list[Row] | str:
    """Runs on the cluster; returns a sentence for the user where the engine fails there."""
    try:
        with Labeller(settings) as labeller:
            return list(labeller.label(task.positions))
    except UserError as error:
        return str(error)
