"""SIGINT (Ctrl-C) and SIGTERM while a run trains: noted, so that the loop can finish its step and save."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MESSAGE = b"\nstopping after this step, with a checkpoint (a second signal stops at once, without)\n"


class StopSignals:
    """A context in which the first signal is noted in `received`; a second one acts as it did before the context."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def name(self) -> str:
        """The name of the received signal, for reports."""
        return "a signal to another process" if self.received is None else signal.Signals(self.received).name

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal ended: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + (self.received or signal.SIGTERM)

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():  # Python allows handlers only there
            for number in _SIGNALS:
                if (handler := signal.getsignal(number)) is not signal.SIG_IGN:  # ignored, as in background jobs
                    self._before[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        self._before = {}

    def _note(self, number: int, _: FrameType | None) -> None:
        self.received = number
        self.__exit__()
        os.write(2, _MESSAGE)  # print is not safe in a handler
