"""The work queue of the server: a few threads work, a bounded number of requests wait, the rest get "busy".

Thinking and reading long input take processor time, so neither may run on the event loop, and an unbounded queue
would answer nobody. A request holds one place from its start to its end. When the client disconnects, its place is
free at once: work that has not started is dropped, and a thread that has started finishes its one piece of work.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Busy(Exception):
    """All places of the queue are taken."""


class ClientGone(Exception):
    """The client disconnected before its answer was ready."""


class WorkQueue:
    """At most `places` requests at a time, `threads` of them working. Used on the event loop only."""

    def __init__(self, places: int = 100, threads: int = 2) -> None:
        self.places = places
        self.taken = 0
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None  # made at the first piece of work

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place; Busy at once if none is free."""
        if self.taken >= self.places:
            raise Busy(f"The server is busy: {self.taken} requests are waiting; try again in a few seconds.")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    async def piece(self, work: Callable[[], T]) -> T:
        """The result of one piece of work, first come first served. Cancelled before its start, it never runs."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=self._threads, thread_name_prefix="work")
        return await asyncio.wrap_future(self._pool.submit(work))

    async def run(self, work: Callable[[], T]) -> T:
        """A request of one piece: hold a place for it."""
        async with self.place():
            return await self.piece(work)

    def close(self) -> None:
        """Drop what waits; pieces that have started end by themselves."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


async def while_connected(gone: Callable[[], Awaitable[None]], work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled as soon as `gone` says that the client has disconnected."""
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(gone())
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone("The client disconnected.")
        return working.result()
    finally:
        watching.cancel()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await working  # its outcome was given back above, or nobody wants it
