"""Reads a pipe with a time limit on every system: a thread reads, because Windows cannot wait for a pipe."""

from __future__ import annotations

import queue
import threading
from typing import IO

CHUNK = 1 << 16  # bytes in one read at most
WAITING = 64  # chunks that may wait to be taken; then the program at the other end has to wait too


class PipeReader:
    """What comes out of a pipe, chunk by chunk. The pipe is closed by the thread that reads it, when it ends.

    `pipe` has no buffer of its own, so that a read gives what is there.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._chunks: queue.Queue[bytes] = queue.Queue(WAITING)
        self._closed = False
        self._ended = False
        self.thread = threading.Thread(target=self._read, args=(pipe,), name="pipe reader", daemon=True)
        self.thread.start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while not self._closed:
                chunk = pipe.read(CHUNK)
                self._chunks.put(chunk)
                if not chunk:
                    return

    def read(self, seconds: float) -> bytes | None:
        """The next chunk; nothing (b"") once the other end is closed; None if the time is over before either."""
        if self._ended:
            return b""
        try:
            chunk = self._chunks.get(timeout=seconds)
        except queue.Empty:
            return None
        self._ended = not chunk
        return chunk

    def close(self) -> None:
        """Let the thread end at the end of its read; it does not wait for someone to take what it has read."""
        self._closed = True
        while True:
            try:
                self._chunks.get_nowait()
            except queue.Empty:
                return
