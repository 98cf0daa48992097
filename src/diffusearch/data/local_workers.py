"""Labelling by several processes of this machine, each with its own engine.

A worker that dies (out of memory, killed) is replaced, and the new worker labels its shard from the start. If the main
process dies, its pipes close; each worker sees this at its next position and ends, and its engine ends too.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from diffusearch.data.labelling import Labeller, LabelSettings, Row
from diffusearch.data.plan import ShardTask
from diffusearch.errors import UserError

PATIENCE = 2.0  # seconds until a worker that should end is killed
ATTEMPTS = 3  # workers that may die on one shard
Progress = Callable[[int], None]  # called with the number of positions that were labelled since the last call


def label_here(
    tasks: Iterator[ShardTask], settings: LabelSettings, progress: Progress
) -> Iterator[tuple[ShardTask, list[Row]]]:
    """Label in this process: for futures without a search."""
    with Labeller(settings) as labeller:
        for task in tasks:
            rows = list(labeller.label(task.positions))
            progress(len(rows))
            yield task, rows


def label_locally(
    tasks: Iterator[ShardTask], settings: LabelSettings, workers: int, progress: Progress
) -> Iterator[tuple[ShardTask, list[Row]]]:
    """Label in several processes; gives shards as they become ready, not always in order."""
    running: dict[Connection, _Worker] = {}
    try:
        for task in tasks:
            worker = _Worker(settings)
            running[worker.pipe] = worker
            worker.give(task)
            if len(running) == workers:
                break
        while running:
            for pipe in wait(list(running)):
                worker = running[pipe]  # type: ignore[index]
                rows = worker.receive(progress)
                if worker.dead:
                    del running[worker.pipe]
                    worker = worker.successor()
                    running[worker.pipe] = worker
                elif rows is not None:
                    finished = worker.task
                    following = next(tasks, None)
                    if following is None:
                        worker.close()
                        del running[worker.pipe]
                    else:
                        worker.give(following)
                    yield finished, rows
    finally:
        for worker in running.values():
            worker.close()


class _Worker:
    """One worker process, as the main process sees it."""

    def __init__(self, settings: LabelSettings) -> None:
        context = multiprocessing.get_context("spawn")
        self.settings = settings
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(theirs, settings), daemon=True)
        self.process.start()
        theirs.close()
        self.dead = False
        self.attempts = 0
        self.labelled = 0  # positions of the task so far
        self.task: ShardTask

    def give(self, task: ShardTask) -> None:
        self.task, self.attempts, self.labelled = task, self.attempts + 1, 0
        with suppress(OSError):  # it died between two shards: `wait` reports the closed pipe
            self.pipe.send(task)

    def receive(self, progress: Progress) -> list[Row] | None:
        """The rows of the finished shard, or None before that."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            self.dead = True
            progress(-self.labelled)
            return None
        if isinstance(message, str):
            raise UserError(message)
        if isinstance(message, list):
            self.attempts = 0
            return message
        self.labelled += message
        progress(message)
        return None

    def successor(self) -> _Worker:
        self.close()
        if self.attempts >= ATTEMPTS:
            raise UserError(
                f"{ATTEMPTS} workers in a row died on shard {self.task.info.index}; "
                "look for lack of memory, then run the same command again to continue"
            )
        worker = _Worker(self.settings)
        worker.attempts = self.attempts
        worker.give(self.task)
        return worker

    def close(self) -> None:
        """End the worker. It sees the closed pipe at its next position and waits for its engine, whose processor time
        then counts as this process's; a worker that does not is killed."""
        self.pipe.close()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _work(pipe: Connection, settings: LabelSettings) -> None:
    """The worker process: receives shards; sends 1 for each position, then the rows, or the text of a UserError."""
    try:
        with Labeller(settings) as labeller:
            while True:
                task: ShardTask = pipe.recv()
                rows = []
                for row in labeller.label(task.positions):
                    rows.append(row)
                    pipe.send(1)
                pipe.send(rows)
    except UserError as error:
        pipe.send(str(error))
    except (EOFError, OSError, KeyboardInterrupt):
        return  # the main process has ended
