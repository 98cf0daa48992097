"""The desk where thinking is queued: a few threads think, a few more requests wait, the rest hear "busy".

Thinking takes seconds of CPU, so it must never run on the event loop, and an endless queue would answer nobody.
A place is given back when the thread is done, not when the client goes away: the work goes on either way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Busy(Exception):
    """All places at the desk are taken."""


class Desk:
    """At most `places` thoughts under way, `threads` of them at the same time."""

    def __init__(self, places: int = 10, threads: int = 2) -> None:
        self.places = places
        self.taken = 0
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="think")

    async def think(self, work: Callable[[], T]) -> T:
        """The result of `work`, which runs in a thread; Busy at once if no place is free. Event loop only."""
        if self.taken >= self.places:
            raise Busy(f"Busy: {self.taken} players are waiting for an answer already; try again in a few seconds.")
        loop = asyncio.get_running_loop()
        self.taken += 1
        future = self._threads.submit(work)
        future.add_done_callback(lambda done: self._give_back(loop, done))
        return await asyncio.wrap_future(future)

    def _give_back(self, loop: asyncio.AbstractEventLoop, _: Future[T]) -> None:
        # Called in the worker thread: the count belongs to the event loop.
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self.taken -= 1

    def close(self) -> None:
        """Wait for no new work; thoughts under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)
