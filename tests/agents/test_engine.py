"""UCI engines: limits, lines, crashes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
import pytest

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.build import agent
from diffusearch.data.uci_process import find_engine
from diffusearch.errors import UserError


@pytest.fixture(scope="module")
def stockfish() -> Iterator[Agent]:
    try:
        find_engine(None)
    except UserError as error:
        pytest.skip(str(error))
    with agent("stockfish:nodes=2000") as made:
        yield made


def test_a_crashed_engine_is_started_again(trouble: Callable[[str], str]) -> None:
    with agent("uci:" + trouble("crash\ne2e4")) as made:
        decision = made.play(chess.Board())
        assert decision.move.uci() == "e2e4"
        assert decision.nodes == 7
        assert made.play(chess.Board()).move.uci() == "e2e4"


def test_an_engine_that_crashes_twice_is_an_error_in_words_and_may_recover(trouble: Callable[[str], str]) -> None:
    with agent("uci:" + trouble("crash\ncrash\ne2e4")) as made:
        with pytest.raises(UserError, match="twice"):
            made.play(chess.Board())
        assert made.play(chess.Board()).move.uci() == "e2e4"


def test_a_silent_engine_is_given_up_and_started_again(
    trouble: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diffusearch.agents.engine.PATIENCE", 2.0)
    with agent("uci:" + trouble("silence\ne2e4")) as made:
        assert made.play(chess.Board()).move.uci() == "e2e4"


def test_an_illegal_move_is_an_error_in_words(trouble: Callable[[str], str]) -> None:
    with agent(f"uci:{trouble('e2e5')}") as made, pytest.raises(UserError, match="answered badly"):
        made.play(chess.Board())


def test_options_are_passed_on_and_checked(trouble: Callable[[str], str]) -> None:
    path = trouble("e2e4")
    with agent(f"uci:{path}?option.Level=3") as made:
        assert made.play(chess.Board()).move.uci() == "e2e4"
    with pytest.raises(UserError, match="Level from 0 to 5, not '9'"):
        agent(f"uci:{path}?option.Level=9")
    with pytest.raises(UserError, match="no option 'Nonsense'"):
        agent(f"uci:{path}?option.Nonsense=9")


@pytest.mark.parametrize("path", ["/no/such/engine", sys.executable.replace("python", "nothing")])
def test_a_missing_engine_is_named(path: str) -> None:
    with pytest.raises(UserError, match="does not start"):
        agent(f"uci:{path}")


def test_a_program_that_is_no_engine_is_named(program: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not start"):
        agent(f"uci:{program(tmp_path / 'silent', '-c', 'pass')}")


def test_an_engine_left_open_does_not_keep_the_program_from_ending(trouble: Callable[[str], str]) -> None:
    text = f"uci:{trouble('e2e4')}"
    code = f"from diffusearch.agents.build import agent; made = agent({text!r}); print('done')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "done\n"


@pytest.mark.engine
def test_stockfish_finds_a_mate_and_says_so(stockfish: Agent) -> None:
    for fen in ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1"):
        decision = stockfish.play(chess.Board(fen))
        assert decision.move.uci() in ("a1a8", "a8a1")
        assert decision.value == 1.0


@pytest.mark.engine
def test_stockfish_lines_and_limits(stockfish: Agent) -> None:
    lines = stockfish.analyse(chess.Board(), lines=3)
    assert len({one.move for one in lines}) == 3
    values = [one.value for one in lines]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    wanted = (chess.Move.from_uci("a2a3"),)
    assert stockfish.play(chess.Board(), Limits(moves=wanted)).move in wanted
    assert stockfish.play(chess.Board(), Limits(nodes=200)).nodes < 1000
    assert stockfish.play(chess.Board(), Limits(depth=1)).nodes < 1000


@pytest.mark.engine
def test_stockfish_repeats_itself_on_unrelated_boards(stockfish: Agent) -> None:
    boards = [chess.Board(), chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")] * 2
    first, second, third, fourth = stockfish.play_many(boards)
    assert (first.move, first.line, first.value) == (third.move, third.line, third.value)
    assert (second.move, second.line, second.value) == (fourth.move, fourth.line, fourth.value)


@pytest.mark.engine
@pytest.mark.parametrize("text", ["stockfish:elo=1500", "stockfish:skill=0&depth=3", "stockfish?movetime=20&hash=4"])
def test_stockfish_texts(stockfish: Agent, text: str) -> None:
    with agent(text) as made:
        assert made.play(chess.Board()).move in chess.Board().legal_moves


@pytest.mark.engine
def test_stockfish_refuses_a_strength_that_it_does_not_have(stockfish: Agent) -> None:
    with pytest.raises(UserError, match="UCI_Elo from"):
        agent("stockfish:elo=100")
    with pytest.raises(UserError, match="keep one"):
        agent("stockfish:elo=1500&skill=3")
