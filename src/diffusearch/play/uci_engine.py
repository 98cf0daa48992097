"""The engine behind the UCI protocol: one worker thread builds the agent and thinks, so that the reader never waits.

Here are the queue, the timers and the answers; `deciding` has the two stages of a decision. Where its first look does
not fit into the time, a fallback move is played.
"""

from __future__ import annotations

import gc
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision
from diffusearch.errors import UserError
from diffusearch.inference.threads import use_threads
from diffusearch.play.clock import Lag
from diffusearch.play.deciding import Deciding
from diffusearch.play.fallback_move import ExpectedLine, fallback_move
from diffusearch.play.pending_go import Answers, PendingGo
from diffusearch.play.uci_options import UciOptions
from diffusearch.play.uci_words import Go, legal_line
from diffusearch.play.warm_up import warm_up

Say = Callable[[str], None]
Build = Callable[[str], Agent]

_BACKLOG = 100  # jobs that may wait for the worker before the reader waits, too
_PATIENCE = 10.0  # seconds that `quit` waits for the bestmove of a `go` that is still open


class ThinkingEngine:
    """Thinks for the protocol; every method returns at once."""

    def __init__(self, say: Say, build: Build, options: UciOptions | None = None) -> None:
        self.options = options or UciOptions()
        self._build = build
        self._lag = Lag()
        self._expected = ExpectedLine()
        self._agent: Agent | None = None
        self._agent_key: tuple[str, int] | None = None  # text and threads that the agent was built from
        self._answers = Answers(say, self._fallback)
        self._deciding = Deciding(self.options, self._answers, self._lag)
        self._last: PendingGo | None = None  # the last `go`, answered or not
        self._last_ready: threading.Event | None = None  # set when the last `isready` is answered
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="thinking", daemon=True)
        self._worker.start()

    # --- what the protocol calls -------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        self._answers.say(*lines)

    def ready(self) -> None:
        """Answer `isready`: at once while a `go` is open, otherwise when the agent is built."""
        with self._answers.lock:
            if self._answers.newest is not None:
                self.say("readyok")
                return
        self._last_ready = done = threading.Event()
        self._jobs.put(lambda: self._get_ready(done))

    def new_game(self) -> None:
        self.stop()
        self.options.new_game()
        self._jobs.put(self._forget)

    def go(self, board: chess.Board | None, go: Go) -> None:
        """Think about a position (None = the last one was refused). An open `go` is answered first."""
        self.stop()
        pending = PendingGo(board, go, self.options.number("Move Overhead") / 1000)
        before, self._last = self._last, pending
        if before is not None:
            if (lag := pending.lag_since(before)) is not None:
                self._lag.measured(lag)
            if self._jobs.qsize() > _BACKLOG:
                before.answered.wait(_PATIENCE)  # only a flood comes here, never a conversation
        self._answers.add(pending)
        if self._agent is not None and not pending.held and self._too_late(pending):
            return  # answered here, because waking the worker would cost time
        pending.waits = pending.only_move_timed and (self._agent is None or self._agent_key != self._key)
        self._set_timers(pending)  # already here: the worker may still be busy with an earlier `go`
        self._jobs.put(lambda: self._think(pending))

    def stop(self) -> None:
        with self._answers.lock:
            pending = self._answers.newest
            if pending is None:
                return
            pending.held, pending.stopped = False, True
            if pending.best is not None or pending.finished:
                self._answer(pending)

    def ponderhit(self) -> None:
        """The expected move was played: from now on our clock runs."""
        with self._answers.lock:
            pending = self._answers.newest
            if pending is None or not pending.go.ponder:
                return
            pending.go = replace(pending.go, ponder=False)
            pending.held = pending.go.infinite
            pending.began = time.monotonic()
            if pending.finished and not pending.held:
                self._answer(pending)
            else:
                self._set_timers(pending)

    def close(self, finish: bool = False, at_once: bool = False) -> bool:
        """Answer what is open and end.

        With `finish` a limited `go` may think to its end first; with `at_once` an open one gets what there is.
        True if the worker has ended; False leaves it in the middle of a computation that cannot be interrupted.
        """
        last = self._last
        if last is not None and (last.held or not finish):
            self.stop()
        if at_once:
            self._answers.answer_all()
        patience = None if finish else _PATIENCE
        for owed in (None if at_once else self._last_ready, last.answered if last else None):
            if owed is not None:
                owed.wait(patience)
        self._jobs.put(None)
        self._worker.join(None if finish else 0.5)
        return not self._worker.is_alive()

    # --- the worker thread -------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        if self._agent is not None:
            self._agent.close()

    @contextmanager
    def _errors_told(self) -> Iterator[None]:
        """The engine outlives a failing agent: the GUI reads why, and the worker goes on."""
        try:
            yield
        except UserError as error:
            self.say(f"info string {' '.join(str(error).split())}")
        except Exception as error:  # whatever an agent may raise
            self.say("info string " + " ".join(f"{type(error).__name__}: {error}".split()))

    def _get_ready(self, done: threading.Event) -> None:
        with self._errors_told():
            self._prepared()
        self.say("readyok")
        done.set()

    def _forget(self) -> None:
        if self._agent is not None:
            with self._errors_told():
                self._agent.new_game()

    @property
    def _key(self) -> tuple[str, int]:
        return self.options.agent_text(), self.options.number("Threads")

    def _prepared(self) -> Agent:
        """The agent that the options describe, built and warmed up if it is not there yet."""
        key = self._key
        if self._agent is not None and key == self._agent_key:
            return self._agent
        if self._agent is not None:
            self._agent.close()
            self._agent = None
        use_threads(key[1])
        agent = self._build(key[0])
        self._deciding.known = warm_up(agent)
        gc.collect()
        gc.freeze()  # what was loaded stays: collections in the middle of a game need not look at it
        self._agent, self._agent_key = agent, key
        return agent

    def _think(self, pending: PendingGo) -> None:
        if not pending.answered.is_set():
            with self._errors_told():
                self._decide(pending)
        with self._answers.lock:
            pending.finished = True
            if not pending.held:
                self._answer(pending)

    def _decide(self, pending: PendingGo) -> None:
        board, go = pending.board, pending.go
        if board is None:
            raise UserError("There is no position to think about: the last `position` was refused.")
        if pending.over:
            self.say(f"info depth 0 score {'mate 0' if board.is_check() else 'cp 0'}")
            return
        if go.searchmoves and not pending.moves:
            self.say("info string None of the searchmoves is legal here; all moves are considered.")
        agent = self._prepared()
        if pending.waits:
            self._begin(pending)
        if pending.answered.is_set() or self._too_late(pending):
            return
        self._deciding.decide(agent, pending, board)

    # --- answering ---------------------------------------------------------------------------------------------

    def _begin(self, pending: PendingGo) -> None:
        """The engine is loaded: the time of the move begins."""
        with self._answers.lock:
            pending.waits, pending.began = False, time.monotonic()
        self._set_timers(pending)

    def _set_timers(self, pending: PendingGo) -> None:
        """From the end of the budget on the best decision there is gets played; near the flag, any move."""
        with self._answers.lock:
            plan = pending.budget(self._deciding.look_seconds, self._lag.turn)
            if plan is None or pending.waits or pending.answered.is_set():
                return
            gone = time.monotonic() - pending.began
            for mark, action in ((plan.maximum, self._time_is_up), (plan.flag, self._answer_by_fallback)):
                if mark < threading.TIMEOUT_MAX:
                    timer = threading.Timer(max(0.0, mark - gone), action, [pending])
                    timer.daemon = True
                    pending.timers.append(timer)
                    timer.start()

    def _time_is_up(self, pending: PendingGo) -> None:
        with self._answers.lock:
            pending.stopped = True
            if pending.best is not None:
                self._answer(pending)

    def _too_late(self, pending: PendingGo) -> bool:
        """Whether the time would run out during a first look; then a fallback move was played."""
        with self._answers.lock:
            plan = pending.budget(0.0, self._lag.turn)
            late = plan is not None and time.monotonic() - pending.began + self._deciding.look_seconds > plan.flag
        if late:
            self._deciding.known.look.relax()  # or one slow look would make fallback moves of all later ones
            self._answer_by_fallback(pending)
        return late

    def _answer_by_fallback(self, pending: PendingGo) -> None:
        with self._answers.lock:
            if pending.best is None:
                self._answer(pending)  # which plays the fallback move

    def _fallback(self, pending: PendingGo) -> Decision:
        assert pending.board is not None
        return fallback_move(pending.board, pending.moves, self._expected, self.options.number("Seed"))

    def _answer(self, pending: PendingGo) -> None:
        with self._answers.lock:
            if pending.answered.is_set():
                return
            self._answers.answer(pending)
            if pending.board is not None and pending.best is not None:
                self._expected.keep(pending.board, legal_line(pending.board, pending.best))
