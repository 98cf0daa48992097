"""`go`s that are not answered yet: each is answered exactly once, in the order in which they came.

A GUI may send `go ponder`, `stop`, `position` and a new `go` without waiting. The answers still have to pair with the
`go`s, so a `bestmove` is sent only after those of all earlier `go`s; one that has no decision yet then gets the
fallback move of its own position.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import chess

from diffusearch.agents.base import Decision
from diffusearch.play.clock import Lag, MoveBudget, budget, fixed
from diffusearch.play.uci_words import Go, allowed_moves, bestmove_line, info_line

NO_TIME = "info string No time for the network: this is a fallback move."


class PendingGo:
    """One `go`: what was asked, the best decision so far, and how far its answer is."""

    def __init__(self, board: chess.Board | None, go: Go, overhead: float) -> None:
        self.board = board
        self.over = board is not None and not any(board.legal_moves)
        self.go = go
        self.overhead = overhead
        self.began = time.monotonic()  # when the budget starts to count: the `go` line, later the ponderhit
        self.waits = False  # the budget starts to count later still, when the agent is loaded
        self.held = go.infinite or go.ponder  # no bestmove before stop or ponderhit
        self.stopped = False  # the next decision is the answer
        self.finished = False  # nothing more to think about
        self.best: Decision | None = None
        self.evaluations = 0  # positions evaluated so far
        self.answered = threading.Event()
        self.fell_back = False  # answered by a fallback move
        self.sent = 0.0  # when it was answered
        self.timers: list[threading.Timer] = []
        self.moves: tuple[chess.Move, ...] = () if board is None else allowed_moves(board, go.searchmoves)  # () = all

    @property
    def only_move_timed(self) -> bool:
        """Whether `movetime` is all that limits its time: no clock of a game runs while the agent is loaded."""
        return self.go.movetime is not None and (self.board is None or self.go.clock(self.board.turn) is None)

    def budget(self, least: float, turn: float, ahead: bool = False) -> MoveBudget | None:
        """The time for this move; None = as long as it takes.

        `least` is the cost of a first look in seconds, `turn` that of a fallback move with its way to the GUI and
        back. A ponder has no budget, for our clock does not run; `ahead` gives the one it has after a ponderhit.
        """
        if self.board is None or self.over or self.go.infinite or (self.go.ponder and not ahead):
            return None
        if self.go.movetime is not None:
            return fixed(self.go.movetime / 1000, self.overhead)
        clock = self.go.clock(self.board.turn)
        return None if clock is None else budget(clock, self.overhead, least, turn, len(self.board.move_stack) // 2)

    def lag_since(self, earlier: PendingGo) -> float | None:
        """Seconds that the last move cost on the clock without the network; None if the clocks do not tell.

        Both must be moves of the same side in the same game, two plies apart, under the same time control.
        """
        if self.board is None or earlier.board is None or not earlier.answered.is_set():
            return None
        before, now = earlier.go.clock(earlier.board.turn), self.go.clock(self.board.turn)
        plies = len(earlier.board.move_stack)
        if (
            before is None
            or now is None
            or self.board.move_stack[: max(0, len(self.board.move_stack) - 2)] != (earlier.board.move_stack[:plies])
        ):
            return None
        whole = before.remaining + before.increment - now.remaining
        lag = whole if earlier.fell_back else whole - (earlier.sent - earlier.began) + Lag.OWN
        return lag if lag >= 0 else None


class Answers:
    """Sends lines to the GUI and keeps the open `go`s in order. The lock guards the fields of every PendingGo."""

    def __init__(self, say: Callable[[str], None], fallback: Callable[[PendingGo], Decision]) -> None:
        self._say = say
        self._fallback = fallback
        self._open: deque[PendingGo] = deque()
        self.lock = threading.RLock()

    def say(self, *lines: str) -> None:
        """Lines that belong together go out in one piece, so that the GUI wakes up once."""
        with self.lock:
            self._say("\n".join(lines))

    def add(self, pending: PendingGo) -> None:
        with self.lock:
            self._open.append(pending)

    @property
    def newest(self) -> PendingGo | None:
        """The last `go`, if it is not answered yet."""
        with self.lock:
            return self._open[-1] if self._open else None

    def answer(self, pending: PendingGo) -> None:
        """Send its `bestmove` if that was not sent, after those of all earlier `go`s."""
        with self.lock:
            while not pending.answered.is_set():
                self._send(self._open.popleft())

    def answer_all(self) -> None:
        """Answer whatever is open, at once."""
        with self.lock:
            while self._open:
                self._send(self._open.popleft())

    def _send(self, pending: PendingGo) -> None:
        for timer in pending.timers:
            timer.cancel()
        lines: list[str] = []
        board = pending.board
        if pending.best is None and not pending.finished and not pending.over and board is not None:
            pending.best, pending.fell_back = self._fallback(pending), True
            seconds = time.monotonic() - pending.began
            lines = [NO_TIME, info_line(board, pending.best, 1, seconds, pending.evaluations, show_wdl=False)]
        self.say(*lines, bestmove_line(board or chess.Board(), pending.best))
        pending.sent = time.monotonic()
        pending.answered.set()
