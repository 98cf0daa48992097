"""The engine behind the protocol: one worker thread that builds the agent and thinks, so that the reader never waits.

A decision comes in two stages: first a glance (one denoising step, or a few nodes), so that a sound move is there
almost at once for `stop` and for the clock; then the full thought: as many denoising steps as were asked for and fit
into the time or, for an agent without that dial (a search, another engine), the seconds it may use.
When not even a glance fits before the flag, a reflex answers.
Every `go` is answered by exactly one `bestmove`.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.strength import Strength
from diffusearch.errors import UserError
from diffusearch.play.clock import Budget, Speed, budget, fixed
from diffusearch.play.reflex import Memory, reflex
from diffusearch.play.uci_options import Options
from diffusearch.play.uci_words import Go, allowed_moves, bestmove_line, info_line, legal_line

Say = Callable[[str], None]
Build = Callable[[str], Agent]

_GLANCE = Limits(steps=1, nodes=20, seconds=0.05, line=False)
_WARM = tuple(Limits(steps=steps, line=False) for steps in (3, 9))  # thoughts, where steps are wider than a glance
_BACKLOG = 100  # jobs that may wait for the worker before the reader waits too
_FAREWELL = 10.0  # seconds that `quit` waits for the bestmove of a `go` that is still open


class Thought:
    """One `go`: what was asked, the best decision so far, and whether it may be or was given away."""

    def __init__(self, board: chess.Board | None, go: Go, overhead: float) -> None:
        self.board = board
        self.over = board is not None and not any(board.legal_moves)
        self.go = go
        self.overhead = overhead
        self.began = time.monotonic()  # when the budget starts to count: the `go` line, later the ponderhit
        self.held = go.infinite or go.ponder  # no bestmove before stop or ponderhit
        self.stopped = False  # the next decision is the answer
        self.finished = False  # nothing more to think about
        self.best: Decision | None = None
        self.answered = threading.Event()
        self.timers: list[threading.Timer] = []
        self.moves: tuple[chess.Move, ...] = () if board is None else allowed_moves(board, go.searchmoves)  # () = all

    def budget(self, least: float, ahead: bool = False) -> Budget | None:
        """The time for this move; None = as long as it takes. `least` is the cost of a glance in seconds.

        A ponder has none, for our clock does not run; `ahead` gives the one it would have after a ponderhit.
        """
        if self.board is None or self.over or self.go.infinite or (self.go.ponder and not ahead):
            return None
        if self.go.movetime is not None:
            return fixed(self.go.movetime / 1000, self.overhead)
        clock = self.go.clock(self.board.turn)
        return None if clock is None else budget(clock, self.overhead, least)


class Engine:
    """Thinks for the protocol; every method returns at once."""

    def __init__(self, say: Say, build: Build, options: Options | None = None) -> None:
        self.options = options or Options()
        self._say_raw = say
        self._build = build
        self._speed = Speed()  # of full thoughts
        self._glance = Speed()  # of whole glances
        self._memory = Memory()
        self._agent: Agent | None = None
        self._agent_key: tuple[str, int] | None = None  # text and threads that the agent was built from
        self._has_steps = False
        self._lock = threading.RLock()  # guards the fields of Thought, and the order of lines
        self._thought: Thought | None = None
        self._last_ready: threading.Event | None = None  # set when the last `isready` is answered
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="thinking", daemon=True)
        self._worker.start()

    # --- what the protocol calls -------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        """Lines that belong together go out in one piece: the GUI wakes up once."""
        with self._lock:
            self._say_raw("\n".join(lines))

    def ready(self) -> None:
        """Answer `isready`: at once while thinking, otherwise when the agent is built."""
        with self._lock:
            if self._thought is not None and not self._thought.answered.is_set():
                self.say("readyok")
                return
        self._last_ready = done = threading.Event()
        self._jobs.put(lambda: self._get_ready(done))

    def new_game(self) -> None:
        self.stop()
        self._jobs.put(self._forget)

    def go(self, board: chess.Board | None, go: Go) -> None:
        """Think about a position (None = the last one was refused). An open `go` is answered first."""
        self.stop()
        thought = Thought(board, go, self.options.number("Move Overhead") / 1000)
        before, self._thought = self._thought, thought
        if before is not None and self._jobs.qsize() > _BACKLOG:
            before.answered.wait(_FAREWELL)  # only a flood comes here, never a conversation
        self._set_timers(thought)  # already here: the worker may still be busy with a thought that came too late
        self._jobs.put(lambda: self._think(thought))

    def stop(self) -> None:
        with self._lock:
            thought = self._thought
            if thought is None or thought.answered.is_set():
                return
            thought.held, thought.stopped = False, True
            if thought.best is not None or thought.finished:
                self._answer(thought)

    def ponderhit(self) -> None:
        """The expected move was played: from now on our clock runs."""
        with self._lock:
            thought = self._thought
            if thought is None or thought.answered.is_set() or not thought.go.ponder:
                return
            thought.go = replace(thought.go, ponder=False)
            thought.held = thought.go.infinite
            thought.began = time.monotonic()
            if thought.finished and not thought.held:
                self._answer(thought)
            else:
                self._set_timers(thought)

    def close(self, finish: bool = False) -> bool:
        """Answer what is open and end; with `finish` a limited `go` may think to its end first.

        True if the worker has ended; False leaves it in the middle of a computation that cannot be interrupted.
        """
        thought = self._thought
        if thought is not None and (thought.held or not finish):
            self.stop()
        patience = None if finish else _FAREWELL
        for owed in (self._last_ready, thought.answered if thought else None):
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
            self.say(f"info string {error}")
        except Exception as error:  # whatever an agent may raise
            self.say("info string " + " ".join(f"{type(error).__name__}: {error}".split()))

    def _get_ready(self, done: threading.Event) -> None:
        with self._errors_told():
            self._prepared()
        self.say("readyok")
        done.set()

    def _forget(self) -> None:
        self.options.new_game()
        if self._agent is not None:
            with self._errors_told():
                self._agent.new_game()

    def _prepared(self) -> Agent:
        """The agent that the options describe, built and warmed up if it is not there yet."""
        key = (self.options.agent_text(), self.options.number("Threads"))
        if self._agent is not None and key == self._agent_key:
            return self._agent
        if self._agent is not None:
            self._agent.close()
            self._agent = None
        agent = self._build(key[0])
        if "torch" in sys.modules:  # an agent without a network needs none; the setting belongs to this thread
            sys.modules["torch"].set_num_threads(key[1])
        # Twice: the first call pays for lazy initialisation, the second tells the speed.
        self._has_steps = agent.play(chess.Board(), _GLANCE).imagination is not None
        began = time.monotonic()
        agent.play(chess.Board(), _GLANCE)
        self._speed, self._glance = Speed(), Speed()
        for speed in (self._speed, self._glance):
            speed.measured(time.monotonic() - began, 1, 1)
        for limits in _WARM:
            steps = limits.steps or 1
            if agent.work(steps) > steps * agent.work(1):  # evaluations in a batch are cheaper than in a glance
                began = time.monotonic()
                decision = agent.play(chess.Board(), limits)
                calls = decision.imagination.steps if decision.imagination else 0
                self._speed.measured(time.monotonic() - began, calls, decision.nodes)
        self._agent, self._agent_key = agent, key
        return agent

    def _think(self, thought: Thought) -> None:
        with self._errors_told():
            self._decide(thought)
        self._finish(thought)

    def _decide(self, thought: Thought) -> None:
        board, go = thought.board, thought.go
        if board is None:
            raise UserError("There is no position to think about: the last `position` was refused.")
        if thought.over:
            self.say(f"info depth 0 score {'mate 0' if board.is_check() else 'cp 0'}")
            return
        if go.searchmoves and not thought.moves:
            self.say("info string None of the searchmoves is legal here; all moves are considered.")
        agent = self._prepared()
        if thought.answered.is_set() or self._too_late_for_a_glance(thought):
            return
        glance = replace(_GLANCE, moves=thought.moves, nodes=min(_GLANCE.nodes or 1, go.nodes or sys.maxsize))
        spent, _, _ = self._stage(agent, thought, board, glance, lines=1)
        self._glance.measured(spent, 1, 1)
        with self._lock:
            if thought.stopped:
                return
        seconds, latest = self._time_left(thought) or (None, None)
        full = Strength(self.options.number("Strength")).effort(self.options.number("Steps"))
        nodes = go.nodes or sys.maxsize
        most = next((steps for steps in range(full, 1, -1) if agent.work(steps) <= nodes), 1) if self._has_steps else 2
        steps = most if seconds is None else self._speed.steps_within(seconds, most, agent.work, latest)
        lines = self.options.number("MultiPV")
        enough = steps <= 1 if seconds is not None else steps == 1 == lines
        if seconds is not None and board.legal_moves.count() == 1:
            return  # with the speed as it is: a lone glance says little about evaluations side by side
        if enough:
            if seconds is not None:  # else nothing would tell when the machine is faster again
                self._speed.measured(spent, 1, 1)
                self._speed.relax_batches()
            return
        limits = Limits(nodes=go.nodes, depth=go.depth, moves=thought.moves, seconds=seconds)
        if self._has_steps:  # the dial replaces the seconds
            limits = replace(limits, steps=steps, seconds=None)
        spent, calls, evaluations = self._stage(agent, thought, board, limits, lines)
        if self._has_steps:
            self._speed.measured(spent, calls, evaluations)
            if seconds is not None and evaluations <= calls:
                self._speed.relax_batches()

    def _time_left(self, thought: Thought) -> tuple[float, float] | None:
        """Seconds to plan with, and seconds till the move is cut off; None where the thought may take its time.

        Pondering is planned like a move: a thought cannot be interrupted, and when another move comes than the one
        that was expected, the clock runs while the worker is still busy with it.
        """
        with self._lock:
            plan = thought.budget(self._glance.careful() or 0.0, ahead=True)
            if plan is None:
                return None
            gone = 0.0 if thought.go.ponder else time.monotonic() - thought.began
            return plan.optimum - gone, plan.maximum - gone

    def _stage(
        self, agent: Agent, thought: Thought, board: chess.Board, limits: Limits, lines: int
    ) -> tuple[float, int, int]:
        """One call of the agent; its lines are shown and its first decision is the best so far.

        Gives the seconds, the network calls that were made (there may be fewer than steps were asked for), and the
        positions that they evaluated; those of the first line, so that further lines count as slowness.
        """
        began = time.monotonic()
        decisions = agent.analyse(board.copy(), limits, lines) if lines > 1 else [agent.play(board.copy(), limits)]
        dream = decisions[0].imagination
        spent = time.monotonic() - began, dream.steps if dream else 0, decisions[0].nodes
        decisions = _with_candidates(board, decisions, limits.moves, lines)
        for decision in decisions:
            if not board.is_legal(decision.move):
                raise RuntimeError(f"the agent {agent.name} chose {decision.move}, which is not legal in {board.fen()}")
        with self._lock:
            if thought.answered.is_set():
                return spent  # the deadline or a stop was faster
            thought.best = decisions[0]
            seconds = time.monotonic() - thought.began
            for rank, decision in enumerate(decisions, start=1):
                self.say(info_line(board, decision, rank, seconds, self.options.on("UCI_ShowWDL")))
        return spent

    # --- answering ---------------------------------------------------------------------------------------------

    def _set_timers(self, thought: Thought) -> None:
        """From the end of the budget on the best decision there is gets played; near the flag, any move."""
        with self._lock:
            plan = thought.budget(self._glance.careful() or 0.0)
            if plan is None or thought.answered.is_set():
                return
            gone = time.monotonic() - thought.began
            for mark, deed in ((plan.maximum, self._time_is_up), (plan.flag, self._reflex)):
                if mark < threading.TIMEOUT_MAX:
                    timer = threading.Timer(max(0.0, mark - gone), deed, [thought])
                    timer.daemon = True
                    thought.timers.append(timer)
                    timer.start()

    def _time_is_up(self, thought: Thought) -> None:
        with self._lock:
            thought.stopped = True
            if thought.best is not None:
                self._answer(thought)

    def _too_late_for_a_glance(self, thought: Thought) -> bool:
        """Whether the flag would fall during a glance; then a reflex has answered."""
        with self._lock:
            plan = thought.budget(0.0)
            late = plan is not None and time.monotonic() - thought.began + (self._glance.careful() or 0.0) > plan.flag
        if late:
            self._glance.relax()  # or one slow glance would make reflexes of all later moves
            self._reflex(thought)
        return late

    def _reflex(self, thought: Thought) -> None:
        with self._lock:
            if thought.best is None and thought.board is not None and not thought.answered.is_set():
                thought.best = reflex(thought.board, thought.moves, self._memory, self.options.number("Seed"))
                line = info_line(thought.board, thought.best, 1, time.monotonic() - thought.began, False)
                self._answer(thought, "info string No time to imagine: a move by reflex.", line)

    def _finish(self, thought: Thought) -> None:
        with self._lock:
            thought.finished = True
            if not thought.held:
                self._answer(thought)

    def _answer(self, thought: Thought, *before: str) -> None:
        """Say bestmove, once, after the lines that lead to it."""
        with self._lock:
            if thought.answered.is_set():
                return
            for timer in thought.timers:
                timer.cancel()
            if thought.board is not None and thought.best is not None:
                self._memory.keep(thought.board, legal_line(thought.board, thought.best))
            self.say(*before, bestmove_line(thought.board or chess.Board(), thought.best))
            thought.answered.set()


def _with_candidates(
    board: chess.Board, decisions: list[Decision], allowed: tuple[chess.Move, ...], lines: int
) -> list[Decision]:
    """Fill up to `lines` with the next likeliest moves, for agents that imagine only one future."""
    decisions = decisions[:lines]
    shown = {decision.move for decision in decisions}
    chances = decisions[0].probabilities
    rest = [move for move in (allowed or tuple(board.legal_moves)) if move not in shown]
    rest.sort(key=lambda move: -chances.get(move, 0.0))
    fill = [Decision(move, chances, (move,)) for move in rest[: lines - len(decisions)]]
    return decisions + fill
