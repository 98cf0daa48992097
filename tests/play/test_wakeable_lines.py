"""Lines from a pipe: as written, and a signal ends the wait whenever it comes."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from diffusearch.play.wakeable_lines import wakeable_lines


class Stopped(Exception):
    """Raised by the handler of the test's signal."""


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    source, target = os.pipe()
    with os.fdopen(source, "rb", buffering=0) as reader, os.fdopen(target, "wb", buffering=0) as writer:
        yield reader, writer


def test_lines_come_as_they_were_written(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    reader, writer = pipe
    long = b"x" * 300_000
    text = b"uci\n\nposition startpos\r\n" + long + b"\nwithout an end"

    def write() -> None:
        writer.write(text[:10])
        writer.write(text[10:])
        writer.close()

    thread = threading.Thread(target=write)
    thread.start()
    assert list(wakeable_lines(reader)) == text.splitlines(keepends=True)
    thread.join()


def test_a_stream_in_memory_is_read_plainly() -> None:
    assert list(wakeable_lines(io.BytesIO(b"uci\nquit"))) == [b"uci\n", b"quit"]


@pytest.mark.posix
@pytest.mark.parametrize("seconds", [0.0, 0.2])  # before the wait has begun, or after
def test_a_signal_that_interrupts_no_read_ends_the_wait(pipe: tuple[BinaryIO, BinaryIO], seconds: float) -> None:
    """Another thread gets the signal, so that the system call of the main thread goes on."""
    reader, _ = pipe

    def stop(*_: object) -> None:
        raise Stopped

    def signal_itself() -> None:
        time.sleep(seconds)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    def read() -> None:
        thread.start()
        next(wakeable_lines(reader))

    before = signal.signal(signal.SIGUSR1, stop)
    thread = threading.Thread(target=signal_itself)
    try:
        with pytest.raises(Stopped):
            read()
    finally:
        signal.signal(signal.SIGUSR1, before)
        thread.join()


@pytest.mark.posix
def test_the_wakeup_of_before_is_restored(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    reader, writer = pipe
    writer.close()
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    assert list(wakeable_lines(reader)) == []
    assert signal.set_wakeup_fd(before) == before
