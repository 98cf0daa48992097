"""Time and the loading of the agent: `movetime` begins when the agent is ready, a game's clock runs before."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from uci_talk import WAIT, GatedAgent, Talk

from diffusearch.agents.base import Agent
from diffusearch.play.pending_go import NO_TIME

LOADING = 100.0  # seconds that loading takes on the clock of these tests
FIRST_LOOK, FULL = "bestmove a2a3", "bestmove h2h4"


class SlowLoad(Talk):
    """Agents are loaded when the gate is opened; then LOADING seconds have gone."""

    def __init__(self) -> None:
        self.later = 0.0
        self.loading, self.gate = threading.Event(), threading.Event()
        super().__init__(GatedAgent())

    def build(self, text: str) -> Agent:
        self.loading.set()
        assert self.gate.wait(WAIT)
        self.later += LOADING
        return super().build(text)

    def load(self) -> None:
        assert self.loading.wait(WAIT)
        self.gate.set()


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowLoad]:
    talk, now = SlowLoad(), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + talk.later)
    yield talk
    assert talk.engine.close()


def test_movetime_begins_when_the_agent_is_loaded(talk: SlowLoad) -> None:
    talk.send("position startpos", "go movetime 60000")
    pending = talk.engine._last
    assert pending is not None
    assert pending.timers == []  # nothing cuts the move off while the agent is loaded
    talk.load()
    assert talk.until("bestmove").startswith(FULL)
    assert pending.timers
    told = talk.starting("info depth")[-1].split(" time ")[1].split()[0]
    assert int(told) < 1000 * LOADING


@pytest.mark.parametrize("change", ["setoption name Agent value s-a", "ucinewgame"])  # a new game has a new seed
def test_another_agent_is_loaded_before_the_time_begins(talk: SlowLoad, change: str) -> None:
    talk.gate.set()
    talk.ready()
    talk.send(change, "position startpos", "go movetime 60000")
    assert talk.until("bestmove").startswith(FULL)
    assert len(talk.built) == 2


def test_a_loaded_agent_has_the_time_from_the_line_on(talk: SlowLoad) -> None:
    talk.gate.set()
    talk.ready()
    talk.send("position startpos", "go movetime 60000")
    pending = talk.engine._last
    assert pending is not None
    assert not pending.waits
    talk.until("bestmove")


@pytest.mark.parametrize("clock", ["wtime 60000 btime 60000", "wtime 60000 btime 60000 movetime 60000"])
def test_on_a_clock_loading_counts(talk: SlowLoad, clock: str) -> None:
    talk.send("position startpos", f"go {clock}")
    talk.load()
    move = talk.until("bestmove")
    if "movetime" in clock:
        assert move.startswith(FIRST_LOOK)  # late, but considered
    else:
        assert NO_TIME in talk.lines


def test_a_ponderhit_while_the_agent_is_loaded_cuts_nothing_off(talk: SlowLoad) -> None:
    talk.send("position startpos", "go ponder movetime 60000", "ponderhit")
    pending = talk.engine._last
    assert pending is not None
    assert pending.timers == []
    talk.load()
    assert talk.until("bestmove").startswith(FULL)
