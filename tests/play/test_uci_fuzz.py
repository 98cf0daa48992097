"""The fuzzer: garbage and legal words in any order. No crash, no hang, and each go gets one bestmove, legal there."""

from __future__ import annotations

import pytest
from soak.uci_lines import check, lines
from soak.uci_stage import Moody, to_a_program

from diffusearch.agents.simple import RandomAgent
from diffusearch.play.uci import converse
from diffusearch.play.uci_options import UciOptions

# a thread that dies of an exception is a failure, not a remark
pytestmark = [pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning"), pytest.mark.slow]


def test_answers_of_a_slow_agent_pair_with_their_gos() -> None:
    sent = lines(seed=3, count=8_000)
    said: list[str] = []
    assert converse(sent, said.append, lambda text: Moody(), UciOptions(Agent="random"))
    text = "\n".join(said)
    check(sent, text.split("\n"))
    assert "No time for the network" in text  # some answers were forced by a clock


def test_a_hundred_thousand_lines_in_this_process() -> None:
    sent = lines(seed=1, count=100_000)
    said: list[str] = []
    assert converse(sent, said.append, lambda text: RandomAgent(), UciOptions(Agent="random"))
    check(sent, "\n".join(said).split("\n"))


def test_some_thousand_lines_through_a_real_process() -> None:
    outcome = to_a_program("random", number=2, count=4_000)
    assert outcome.faults == []
    assert outcome.counts["bestmoves"] > 100
