"""A pipe that is read by a thread: chunks in order, a time limit, the end, and no thread that stays."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import IO

import pytest

from diffusearch.data.pipe_reader import PipeReader

PATIENCE = 300.0  # seconds, on a busy machine


@pytest.fixture
def pipe() -> Iterator[tuple[PipeReader, IO[bytes]]]:
    source, target = os.pipe()
    with open(target, "wb", buffering=0) as writer:
        reader = PipeReader(os.fdopen(source, "rb", buffering=0))
        yield reader, writer
    reader.close()
    reader.thread.join(PATIENCE)
    assert not reader.thread.is_alive()


def test_chunks_come_in_order_and_then_the_end_for_ever(pipe: tuple[PipeReader, IO[bytes]]) -> None:
    reader, writer = pipe
    writer.write(b"one")
    assert reader.read(PATIENCE) == b"one"
    writer.write(b"two\nthree")
    assert reader.read(PATIENCE) == b"two\nthree"
    writer.close()
    assert [reader.read(PATIENCE) for _ in range(3)] == [b""] * 3


def test_nothing_in_time_is_none_and_later_chunks_still_come(pipe: tuple[PipeReader, IO[bytes]]) -> None:
    reader, writer = pipe
    assert reader.read(0.01) is None
    writer.write(b"late")
    assert reader.read(PATIENCE) == b"late"


def test_a_flood_waits_until_it_is_taken(pipe: tuple[PipeReader, IO[bytes]]) -> None:
    reader, writer = pipe
    flood = [b"%d\n" % number for number in range(100_000)]

    def write() -> None:
        with writer:
            for line in flood:
                writer.write(line)

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    while not reader._chunks.full():
        writing.join(0.01)
    taken = bytearray()
    while chunk := reader.read(PATIENCE):
        taken += chunk
    assert taken == b"".join(flood)


def test_closed_in_the_middle_of_a_flood_the_thread_ends(pipe: tuple[PipeReader, IO[bytes]]) -> None:
    reader, writer = pipe
    while not reader._chunks.full():
        writer.write(b"x")
    writer.write(b"x")  # the thread waits to hand this over
    reader.close()
    writer.close()  # as the engine's end does
