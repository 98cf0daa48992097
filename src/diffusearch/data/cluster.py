"""Labelling on many machines with Ray (optional extra `diffusearch[cluster]`): a task is a shard.

Rows return to the machine that runs the command, and only that machine writes. So no shared disk is needed, and a run
that was killed continues like a local one. Ray gives the shard of a dead worker to another worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diffusearch.data.labelling import FailureCount, Labeller, LabelSettings, Row
from diffusearch.data.local_workers import Progress
from diffusearch.data.plan import ShardTask
from diffusearch.ray_cluster import ray_result, start_ray

RETRIES = 5  # of a shard whose worker or machine died


def label_on_cluster(
    tasks: Iterator[ShardTask], settings: LabelSettings, address: str, workers: int, progress: Progress
) -> Iterator[tuple[ShardTask, list[Row]]]:
    """Shards as they become ready, `workers` of them at a time. The address `local` starts Ray on this machine."""
    ray, started = start_ray("--cluster", address, workers)
    remote = ray.remote(max_retries=RETRIES, num_cpus=1)(_label_shard)
    running: dict[Any, ShardTask] = {}
    failures = FailureCount(settings.oracle.engine if settings.oracle else "")
    try:
        while True:
            while len(running) < workers and (task := next(tasks, None)) is not None:
                running[remote.remote(task, settings)] = task
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            task = running.pop(ready[0])
            died = (
                f"{RETRIES} workers died on shard {task.info.index}; "
                "look for lack of memory, then run the same command again to continue"
            )
            rows: list[Row] = ray_result(ray, ready[0], died)
            for row in rows:  # each shard has a Labeller of its own, which may be too short to notice
                failures.add(row)
            progress(len(rows))
            yield task, rows
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
        if started:
            ray.shutdown()


def _label_shard(task: ShardTask, settings: LabelSettings) -> list[Row]:
    """Runs on the cluster."""
    with Labeller(settings) as labeller:
        return list(labeller.label(task.positions))
