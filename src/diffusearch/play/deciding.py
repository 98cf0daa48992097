"""How a `go` is decided: a first look, then the full decision that its limits allow; each stage is shown to the GUI.

The first look is one network call (or a few nodes): a move is there early for `stop` and the clock. The full decision
takes the network calls (denoising steps, levels of a tree) that fit into the time or, for an agent that is not limited
by calls, its seconds and nodes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.strength import FULL, Strength
from diffusearch.play.clock import Lag, Speed
from diffusearch.play.pending_go import Answers, PendingGo
from diffusearch.play.scoring import FIRST_LOOK, filled, scored
from diffusearch.play.uci_options import UciOptions
from diffusearch.play.uci_words import info_line
from diffusearch.play.warm_up import Measured, calls_of

_MARGIN = 0.8  # of the time till a move is cut off, for agents that end a little after the seconds they were given
_SLICE = 2.0  # seconds: an endless search is not deepened once a round takes longer, for it cannot be interrupted


class Deciding:
    """What the worker thread does with the agent; `known` is what was measured of that agent."""

    def __init__(self, options: UciOptions, answers: Answers, lag: Lag) -> None:
        self.known = Measured(Speed(), Speed(), has_steps=False)  # until an agent is measured
        self._options = options
        self._answers = answers
        self._lag = lag

    @property
    def look_seconds(self) -> float:
        """Seconds that a first look may take; 0 until one is measured."""
        return self.known.look.careful() or 0.0

    def decide(self, agent: Agent, pending: PendingGo, board: chess.Board) -> None:
        """Both stages; the best decision so far is in `pending`."""
        go = pending.go
        look = replace(FIRST_LOOK, moves=pending.moves, nodes=min(FIRST_LOOK.nodes or 1, go.nodes or sys.maxsize))
        spent, _, _ = self._stage(agent, pending, board, look, lines=1)
        self.known.look.measured(spent, 1, 1)
        with self._answers.lock:
            if pending.stopped:
                return
        if self.known.has_steps:
            self._denoise(agent, pending, board, spent)
        else:
            self._search(agent, pending, board)
        if go.infinite and not pending.answered.is_set():
            self._answers.say("info string The search is complete; bestmove is sent after stop.")

    def _denoise(self, agent: Agent, pending: PendingGo, board: chess.Board, look_spent: float) -> None:
        """The full decision of an agent that spends network calls: as many as are wanted and fit into the time."""
        seconds, latest = self._time_left(pending) or (None, None)
        given, strength = self._options.number("Steps"), Strength(self._options.strength)
        # Its own steps are those of its strength already.
        full = strength.scaled(given) if given else self.known.own_steps
        lines = self._options.number("MultiPV")
        nodes = sys.maxsize if pending.go.nodes is None else pending.go.nodes - pending.evaluations
        nodes -= lines if lines > 1 or pending.moves else 0  # the scores of the moves
        searches = 1 if self.known.one_search else lines
        most = next((steps for steps in range(full, 0, -1) if searches * agent.work(steps) <= nodes), int(lines > 1))
        steps = most if seconds is None else self.known.speed.steps_within(seconds, most, agent.work, latest)
        if seconds is not None and board.legal_moves.count() == 1:
            return  # with the speed as it is: one look says little about evaluations in a batch
        if steps <= 1 if seconds is not None else steps == 0 or (steps == 1 == lines):
            if seconds is not None:  # else nothing would tell when the machine is faster again
                self.known.speed.measured(look_spent, 1, 1)
                self.known.speed.relax_batches()
            return
        limits = Limits(steps, None if pending.go.nodes is None else max(1, nodes), pending.go.depth, seconds)
        spent, calls, evaluations = self._stage(agent, pending, board, replace(limits, moves=pending.moves), lines)
        self.known.speed.measured(spent, calls, evaluations)
        if seconds is not None and evaluations <= calls:
            self.known.speed.relax_batches()
        if self.known.one_search and full == steps == self.known.own_steps and strength.dial == FULL:
            self._widen(agent, pending, board, calls)

    def _widen(self, agent: Agent, pending: PendingGo, board: chess.Board, calls: int) -> None:
        """Wider searches while nodes and time allow, or one to reach a depth; each goes on with the tree before."""
        go, lines = pending.go, self._options.number("MultiPV")
        deeper = go.depth is not None and go.depth > agent.horizon
        limits = Limits(depth=go.depth, moves=pending.moves, resume=True)
        while deeper or go.infinite or go.nodes is not None or self._time_left(pending) is not None:
            more, deeper = agent.further(limits), False
            scores = lines if lines > 1 or pending.moves else 0
            dear = go.nodes is not None and more + scores > go.nodes - pending.evaluations
            left = self._time_left(pending)
            # Under `movetime` an overrun costs nothing: at its end the best decision so far is played.
            cost = self.known.speed.expected if go.movetime is not None else self.known.speed.careful
            late = left is not None and (cost(calls + 2, more) or 0.0) > left[0]
            if pending.answered.is_set() or pending.stopped or late or dear or more == 0:
                return
            spent, calls, evaluations = self._stage(agent, pending, board, limits, lines)
            self.known.speed.measured(spent, calls, evaluations)

    def _search(self, agent: Agent, pending: PendingGo, board: chess.Board) -> None:
        """The full decision of an agent that spends seconds and nodes; without an end, one with ever more nodes."""
        go, lines = pending.go, self._options.number("MultiPV")
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
            plan = pending.budget(self.look_seconds, self._lag.turn, ahead=True)
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
        plain = lines == 1 or self._options.strength < FULL  # only `play` samples; its candidates are further lines
        decisions = [agent.play(board.copy(), limits)] if plain else agent.analyse(board.copy(), limits, lines)
        first = decisions[0]
        spent = time.monotonic() - began, calls_of(first), first.nodes
        shared = self.known.one_search or not self.known.has_steps
        evaluations = first.nodes if shared else sum(decision.nodes for decision in decisions)
        decisions = filled(board, decisions, limits.moves, lines)
        for decision in decisions:
            if not board.is_legal(decision.move):
                raise RuntimeError(f"the agent {agent.name} chose {decision.move}, which is not legal in {board.fen()}")
        if lines > 1 or limits.moves:
            decisions, further = scored(agent, board, decisions, engine=not self.known.has_steps)
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
            wdl = self._options.on("UCI_ShowWDL")
            for rank, decision in enumerate(decisions, start=1):
                self._answers.say(info_line(board, decision, rank, seconds, pending.evaluations, wdl))
