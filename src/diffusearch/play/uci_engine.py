"""The engine behind the UCI protocol: one worker thread builds the agent and thinks, so that the reader never waits.

A decision has two stages. The first look is one network call (or a few nodes): a move is there early for `stop` and
the clock. The full decision takes the network calls (denoising steps, levels of a tree) that fit into the time or, for
an agent that is not limited by calls, its seconds and nodes. Where no first look fits, a fallback move is played.
"""

from __future__ import annotations

import gc
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.strength import FULL, Strength
from diffusearch.errors import UserError
from diffusearch.inference.threads import use_threads
from diffusearch.play.clock import Lag, Speed
from diffusearch.play.fallback_move import ExpectedLine, fallback_move
from diffusearch.play.pending_go import Answers, PendingGo
from diffusearch.play.scoring import FIRST_LOOK, filled, scored
from diffusearch.play.uci_options import UciOptions
from diffusearch.play.uci_words import Go, info_line, legal_line
from diffusearch.play.warm_up import calls_of, warm_up

Say = Callable[[str], None]
Build = Callable[[str], Agent]

_BACKLOG = 100  # jobs that may wait for the worker before the reader waits, too
_PATIENCE = 10.0  # seconds that `quit` waits for the bestmove of a `go` that is still open
_MARGIN = 0.8  # of the time till a move is cut off, for agents that end a little after the seconds they were given
_SLICE = 2.0  # seconds: an endless search is not deepened once a round takes longer, for it cannot be interrupted


class ThinkingEngine:
    """Thinks for the protocol; every method returns at once."""

    def __init__(self, say: Say, build: Build, options: UciOptions | None = None) -> None:
        self.options = options or UciOptions()
        self._build = build
        self._speed = Speed()  # of full decisions
        self._look = Speed()  # of first looks
        self._lag = Lag()
        self._expected = ExpectedLine()
        self._agent: Agent | None = None
        self._agent_key: tuple[str, int] | None = None  # text and threads that the agent was built from
        self._has_steps = False  # whether network calls are what it spends, not seconds
        self._own_steps = 1  # how many it spends where nothing limits it
        self._one_search = False  # whether one search gives all lines of MultiPV
        self._answers = Answers(say, self._fallback)
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
        known = warm_up(agent)
        self._speed, self._look = known.speed, known.look
        self._has_steps, self._own_steps, self._one_search = known.has_steps, known.own_steps, known.one_search
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
        look = replace(FIRST_LOOK, moves=pending.moves, nodes=min(FIRST_LOOK.nodes or 1, go.nodes or sys.maxsize))
        spent, _, _ = self._stage(agent, pending, board, look, lines=1)
        self._look.measured(spent, 1, 1)
        with self._answers.lock:
            if pending.stopped:
                return
        if self._has_steps:
            self._denoise(agent, pending, board, spent)
        else:
            self._search(agent, pending, board)
        if go.infinite and not pending.answered.is_set():
            self.say("info string The search is complete; bestmove is sent after stop.")

    def _denoise(self, agent: Agent, pending: PendingGo, board: chess.Board, look_spent: float) -> None:
        """The full decision of an agent that spends network calls: as many as are wanted and fit into the time."""
        seconds, latest = self._time_left(pending) or (None, None)
        given, strength = self.options.number("Steps"), Strength(self.options.strength)
        full = strength.effort(given) if given else self._own_steps  # its own steps are those of its strength already
        lines = self.options.number("MultiPV")
        nodes = sys.maxsize if pending.go.nodes is None else pending.go.nodes - pending.evaluations
        nodes -= lines if lines > 1 or pending.moves else 0  # the scores of the moves
        searches = 1 if self._one_search else lines
        most = next((steps for steps in range(full, 0, -1) if searches * agent.work(steps) <= nodes), int(lines > 1))
        steps = most if seconds is None else self._speed.steps_within(seconds, most, agent.work, latest)
        if seconds is not None and board.legal_moves.count() == 1:
            return  # with the speed as it is: one look says little about evaluations in a batch
        if steps <= 1 if seconds is not None else steps == 0 or (steps == 1 == lines):
            if seconds is not None:  # else nothing would tell when the machine is faster again
                self._speed.measured(look_spent, 1, 1)
                self._speed.relax_batches()
            return
        limits = Limits(steps, None if pending.go.nodes is None else max(1, nodes), pending.go.depth, seconds)
        spent, calls, evaluations = self._stage(agent, pending, board, replace(limits, moves=pending.moves), lines)
        self._speed.measured(spent, calls, evaluations)
        if seconds is not None and evaluations <= calls:
            self._speed.relax_batches()
        if self._one_search and full == steps == self._own_steps and strength.dial == FULL:
            self._widen(agent, pending, board, calls)

    def _widen(self, agent: Agent, pending: PendingGo, board: chess.Board, calls: int) -> None:
        """Wider searches while nodes and time allow, or one to reach a depth; each goes on with the tree before."""
        go, lines = pending.go, self.options.number("MultiPV")
        deeper = go.depth is not None and go.depth > agent.horizon
        limits = Limits(depth=go.depth, moves=pending.moves, resume=True)
        while deeper or go.infinite or go.nodes is not None or self._time_left(pending) is not None:
            more, deeper = agent.further(limits), False
            scores = lines if lines > 1 or pending.moves else 0
            dear = go.nodes is not None and more + scores > go.nodes - pending.evaluations
            left = self._time_left(pending)
            # Under `movetime` an overrun costs nothing: at its end the best decision so far is played.
            cost = self._speed.expected if go.movetime is not None else self._speed.careful
            late = left is not None and (cost(calls + 2, more) or 0.0) > left[0]
            if pending.answered.is_set() or pending.stopped or late or dear or more == 0:
                return
            spent, calls, evaluations = self._stage(agent, pending, board, limits, lines)
            self._speed.measured(spent, calls, evaluations)

    def _search(self, agent: Agent, pending: PendingGo, board: chess.Board) -> None:
        """The full decision of an agent that spends seconds and nodes; without an end, one with ever more nodes."""
        go, lines = pending.go, self.options.number("MultiPV")
        left = self._time_left(pending)
        if left is not None and (left[0] <= 0 or board.legal_moves.count() == 1):
            return
        nodes = None if go.nodes is None else go.nodes - pending.evaluations
        if nodes is not None and nodes < 1:
            return
        seconds = min(left[0], _MARGIN * left[1]) if left else None
        limits = Limits(nodes=nodes, depth=go.depth, moves=pending.moves, seconds=seconds)
        spent, _, evaluations = self._stage(agent, pending, board, limits, lines)
        while go.infinite and not pending.answered.is_set() and evaluations and spent < _SLICE:
            limits, last = replace(limits, nodes=2 * evaluations), evaluations
            spent, _, evaluations = self._stage(agent, pending, board, limits, lines)
            if evaluations <= last:  # more nodes change nothing
                break

    def _time_left(self, pending: PendingGo) -> tuple[float, float] | None:
        """Seconds to plan with, and seconds till the move is cut off; None where there is no clock.

        Pondering is planned like a move: a computation cannot be interrupted, and when another move comes than the
        expected one, our clock runs while the worker is still busy with it.
        """
        with self._answers.lock:
            plan = pending.budget(self._look.careful() or 0.0, self._lag.turn, ahead=True)
            if plan is None:
                return None
            gone = 0.0 if pending.go.ponder else time.monotonic() - pending.began
            return plan.optimum - gone, plan.maximum - gone

    def _stage(
        self, agent: Agent, pending: PendingGo, board: chess.Board, limits: Limits, lines: int
    ) -> tuple[float, int, int]:
        """One call of the agent; its lines are shown and its first decision is the best so far.

        Gives the seconds, the network calls (there may be fewer than steps were asked for), and the positions that
        they evaluated; those of the first line, so that further lines count as slowness.
        """
        began = time.monotonic()
        plain = lines == 1 or self.options.strength < FULL  # only `play` samples; its candidates are further lines
        decisions = [agent.play(board.copy(), limits)] if plain else agent.analyse(board.copy(), limits, lines)
        first = decisions[0]
        spent = time.monotonic() - began, calls_of(first), first.nodes
        shared = self._one_search or not self._has_steps
        evaluations = first.nodes if shared else sum(decision.nodes for decision in decisions)
        decisions = filled(board, decisions, limits.moves, lines)
        for decision in decisions:
            if not board.is_legal(decision.move):
                raise RuntimeError(f"the agent {agent.name} chose {decision.move}, which is not legal in {board.fen()}")
        if lines > 1 or limits.moves:
            decisions, further = scored(agent, board, decisions, engine=not self._has_steps)
            evaluations += further
        self._show(pending, board, decisions, evaluations)
        return spent

    def _show(self, pending: PendingGo, board: chess.Board, decisions: list[Decision], evaluations: int) -> None:
        with self._answers.lock:
            if pending.answered.is_set():
                return  # the deadline or a stop was faster
            pending.best = decisions[0]
            pending.evaluations += evaluations
            seconds = time.monotonic() - pending.began
            wdl = self.options.on("UCI_ShowWDL")
            for rank, decision in enumerate(decisions, start=1):
                self.say(info_line(board, decision, rank, seconds, pending.evaluations, wdl))

    # --- answering ---------------------------------------------------------------------------------------------

    def _begin(self, pending: PendingGo) -> None:
        """The engine is loaded: the time of the move begins."""
        with self._answers.lock:
            pending.waits, pending.began = False, time.monotonic()
        self._set_timers(pending)

    def _set_timers(self, pending: PendingGo) -> None:
        """From the end of the budget on the best decision there is gets played; near the flag, any move."""
        with self._answers.lock:
            plan = pending.budget(self._look.careful() or 0.0, self._lag.turn)
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
            late = plan is not None and time.monotonic() - pending.began + (self._look.careful() or 0.0) > plan.flag
        if late:
            self._look.relax()  # or one slow look would make fallback moves of all later ones
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
