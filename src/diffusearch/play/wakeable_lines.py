"""Lines of standard input; a signal ends the wait for the next line, at whatever moment it comes."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from typing import BinaryIO


def wakeable_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, in the main thread.

    Python calls a signal's handler between two of its instructions. A signal that comes in the middle of the last one
    before a blocking read would wait for the next line. So POSIX waits for input and for signals together: Python's
    own C handler writes to a pipe (`set_wakeup_fd`). Windows cannot wait for a pipe, and a stream in memory need not be
    waited for: these are read plainly.
    """
    try:
        source = stream.fileno()
    except OSError:  # io.UnsupportedOperation: a stream in memory
        source = None
    if source is None or os.name == "nt":
        yield from stream
        return
    wake, signalled = os.pipe()
    os.set_blocking(signalled, False)
    before = signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    try:
        parts: list[bytes] = []  # of a line whose end has not come
        while True:
            ready, _, _ = select.select([source, wake], [], [])
            if wake in ready:
                os.read(wake, 4096)  # the handler itself has been called, or is called now
            if source not in ready:
                continue
            data = os.read(source, 65536)
            if not data:
                break
            *whole, rest = data.split(b"\n")
            for line in whole:
                yield b"".join((*parts, line, b"\n"))
                parts = []
            if rest:
                parts.append(rest)
        if parts:
            yield b"".join(parts)
    finally:
        signal.set_wakeup_fd(before)
        os.close(wake)
        os.close(signalled)
