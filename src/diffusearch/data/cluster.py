"""Labelling on many machines with Ray (optional extra `diffusearch[cluster]`): a task is a shard.

Rows come back to the machine that gave the command, which alone writes: no shared disk is needed, and a run that
was killed continues like a local one. Ray itself gives the shard of a dead worker to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diffusearch.data.labelling import Labeller, LabelSettings, Row
from diffusearch.data.local_workers import Progress
from diffusearch.data.plan import ShardTask
from diffusearch.errors import UserError

RETRIES = 5  # of a shard whose worker or machine died


def label_on_cluster(
    tasks: Iterator[ShardTask], settings: LabelSettings, address: str, workers: int, progress: Progress
) -> Iterator[tuple[ShardTask, list[Row]]]:
    """Shards as they become ready; `workers` are under way at a time. Address `local` starts Ray on this machine."""
    try:
        import ray
    except ImportError as error:
        raise UserError("--cluster needs Ray; install the extra: pip install 'diffusearch[cluster]'") from error

    started = not ray.is_initialized()
    if started:
        try:
            if address == "local":
                ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
            else:
                ray.init(address=address, log_to_driver=False)
        except ConnectionError as error:
            raise UserError(f"no Ray cluster at {address}; start one with `ray start --head` or use `local`") from error
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
                    f"{RETRIES} workers died over shard {task.info.index}; "
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


def _label_shard(task: ShardTask, settings: LabelSettings) -> list[Row] | str:
    """Runs on the cluster; a sentence for the user where the engine there is at fault."""
    try:
        with Labeller(settings) as labeller:
            return list(labeller.label(task.positions))
    except UserError as error:
        return str(error)
