"""How many threads a network call may use, one number for both back ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_asked: int | None = None


def use_threads(count: int) -> None:
    """Use so many threads from now on, in networks that are loaded already and in later ones."""
    global _asked
    _asked = count
    tell_torch()


def tell_torch() -> None:
    """Give torch the number that was asked for, if it is loaded; the setting belongs to the thread that calls this."""
    if _asked is not None and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(_asked)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for network calls, until the end of the block."""
    global _asked
    before, known = _asked, sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None
    use_threads(1)
    try:
        yield
    finally:
        _asked = before
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(known or threads())


def threads() -> int:
    """What was asked for, else what OMP_NUM_THREADS says, else a thread for each processor."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return _asked or (int(told) if told.isdecimal() and int(told) > 0 else os.cpu_count() or 1)
