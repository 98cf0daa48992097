"""Opponents share the agents of their texts: one thread at a time uses an agent; own agents keep their own place."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import chess
import pytest

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.play.opponents import PACKAGED, Opponents, opponents

PATIENCE = 60.0  # seconds; only a test that fails waits as long
LOCK = threading.Lock  # as it is while a test replaces it
SHARED = "mcts?simulations=30"  # the text of a packaged level, too


class Meeting:
    """Counts the threads in an agent; the first one stays there until another has come in or waits for a lock."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.inside = self.most = 0
        self._counting = threading.Lock()

    def play(self) -> None:
        with self._counting:
            self.inside += 1
            self.most = max(self.most, self.inside)
            if self.inside > 1:
                self.came.set()
        assert self.came.wait(PATIENCE), "the second thread neither came in nor waits"
        with self._counting:
            self.inside -= 1


class WatchedLock:
    """A lock that says when a thread has to wait for it."""

    def __init__(self, meeting: Meeting) -> None:
        self._lock, self._meeting = LOCK(), meeting

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._meeting.came.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Met(Agent):
    """Plays a move, and tells that it is being used."""

    name = "met"

    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        self._meeting.play()
        move = next(iter(board.legal_moves))
        return Decision(move, {move: 1.0}, (move,))


def test_two_opponents_with_one_text_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    own, packaged = opponents([SHARED])[0], next(one for one in PACKAGED if one.id == "mcts")
    level = [level.text for level in packaged.levels].index(SHARED)
    assert own.levels[0].text == SHARED
    meeting, start, built = Meeting(), threading.Barrier(2), []

    def build(text: str) -> Agent:
        built.append(text)
        return Met(meeting)

    with monkeypatch.context() as patch:
        patch.setattr(threading, "Lock", lambda: WatchedLock(meeting))
        listed = Opponents([own, packaged], build)

    def decide(agent_id: str, level: int) -> Decision:
        start.wait(PATIENCE)
        return listed.decide(agent_id, chess.Board(), level)

    with ThreadPoolExecutor(2) as threads:
        for answer in [threads.submit(decide, own.id, 0), threads.submit(decide, packaged.id, level)]:
            answer.result(PATIENCE)
    assert built == [SHARED]
    assert meeting.most == 1


@pytest.mark.parametrize("text", ["diffusearch", "search", "mcts"])
def test_an_own_agent_with_a_packaged_ones_text_does_not_replace_it(text: str) -> None:
    (own, *_) = offered = opponents([text])
    listed = Opponents(offered, lambda _: pytest.fail("only the list is asked for"))
    assert listed.find(own.id).about == "Your own agent."
    assert listed.find(text).about != "Your own agent."
