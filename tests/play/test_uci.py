"""The UCI conversation: what is answered, what is refused, and how it ends."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from uci_talk import WAIT, GatedAgent, Talk

from diffusearch.agents.base import Agent
from diffusearch.errors import UserError
from diffusearch.play.uci import converse
from diffusearch.play.uci_options import UciOptions
from diffusearch.weights import VERSION

# a thread that dies of an exception is a failure, not a remark
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def test_uci_answers_without_building_an_agent(talk: Talk) -> None:
    talk.send("uci")
    assert talk.lines[0] == f"id name DiffuSearch {version('diffusearch')} (weights {VERSION})"
    assert talk.lines[-1] == "uciok"
    assert talk.built == []


def test_isready_builds_the_agent(talk: Talk, gated: GatedAgent) -> None:
    talk.send("isready")
    talk.until("readyok")
    assert talk.built == ["mock"]
    assert [limits.steps for limits in gated.asked] == [1, 1, 1, None, 3, 20]  # how fast it is, also in batches


def test_go_shows_the_line_then_answers_with_the_reply_to_ponder(talk: Talk, gated: GatedAgent) -> None:
    talk.send("position startpos", "go")
    assert talk.until("bestmove") == "bestmove h2h4 ponder h7h5"
    assert talk.lines[-2].startswith("info depth 2 multipv 1 score cp 0 nodes 21 ")
    assert talk.lines[-2].endswith(" pv h2h4 h7h5")
    assert gated.asked[-1].steps == 20


def test_the_agent_sees_the_moves_of_the_game(talk: Talk, gated: GatedAgent) -> None:
    talk.send("position startpos moves g1f3 g8f6 f3g1 f6g8", "go")
    talk.until("bestmove")
    assert [move.uci() for move in gated.boards[-1].move_stack] == ["g1f3", "g8f6", "f3g1", "f6g8"]


def test_isready_is_answered_while_thinking(talk: Talk, gated: GatedAgent) -> None:
    talk.ready()
    gated.gate.clear()
    gated.thinking.clear()
    talk.send("go")
    assert gated.thinking.wait(WAIT)
    talk.send("isready")
    talk.until("readyok", 2)
    assert not talk.starting("bestmove")
    gated.gate.set()
    talk.until("bestmove h2h4")


@pytest.mark.parametrize(
    ("fen", "score"), [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"), ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", "mate 0")]
)
def test_a_finished_game_has_no_bestmove(talk: Talk, fen: str, score: str) -> None:
    talk.send(f"position fen {fen}", "go")
    assert talk.until("bestmove") == "bestmove (none)"
    assert talk.lines[0] == f"info depth 0 score {score}"
    talk.send("go infinite", "isready", "stop")
    talk.until("bestmove (none)", 2)


def test_a_refused_position_is_not_played_in(talk: Talk) -> None:
    talk.send("position startpos moves e2e5", "go")
    talk.until("info string Position refused, the move 'e2e5'")
    assert talk.until("bestmove") == "bestmove (none)"
    talk.send("position startpos", "go")
    talk.until("bestmove h2h4")


def test_unknown_words_are_passed_over(talk: Talk) -> None:
    talk.send("", "   ", "xyzzy", "joho debug on", "setoption", "setoption name Nonsense value 1", "please uci now")
    assert talk.until("uciok")
    assert talk.lines[0] == "info string Option refused: write `setoption name NAME value VALUE`."
    assert talk.lines[1].startswith("info string No such option: 'Nonsense'")


def test_a_new_game_is_told_to_the_agent(talk: Talk, gated: GatedAgent) -> None:
    talk.send("isready", "ucinewgame", "isready")
    talk.until("readyok", 2)
    assert gated.games == 1


def test_changed_options_build_the_agent_anew(talk: Talk, gated: GatedAgent) -> None:
    talk.send("isready")
    talk.until("readyok")
    talk.send("setoption name Steps value 3", "go")
    talk.until("bestmove")
    assert gated.asked[-1].steps == 3
    assert talk.built == ["mock"]  # steps are a limit of the move
    talk.send("setoption name Agent value other", "isready")
    talk.until("readyok", 2)
    assert talk.built == ["mock", "other"]


def test_an_agent_that_cannot_be_built_is_explained() -> None:
    def refuse(text: str) -> Agent:
        raise UserError(f"There are no weights for {text!r}.")

    lines: list[str] = []
    assert converse([b"isready\n", b"go\n", b"quit\n"], lines.append, refuse, UciOptions(Agent="mock"))
    told = "info string There are no weights for 'mock'."
    assert lines == [told, "readyok", told, "bestmove (none)"]


@pytest.mark.parametrize("end", [[], [b"quit\n"]])
def test_an_open_go_is_answered_before_the_end(end: list[bytes]) -> None:
    lines: list[str] = []
    assert converse(
        [b"uci\n", b"go movetime 50\n", *end], lines.append, lambda text: GatedAgent(), UciOptions(Agent="mock")
    )
    assert lines[-1].startswith("bestmove ")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    lines: list[str] = []
    junk = [bytes(range(256)) + b"\n", b"\xff\xfe go\n", b"position fen \x00\n", b"go\n"]
    assert converse(junk, lines.append, lambda text: GatedAgent(), UciOptions(Agent="mock"))
    assert sum(line.startswith("bestmove") for line in lines) == 2


def test_an_elo_that_is_not_measured_is_said_and_the_game_goes_on(talk: Talk) -> None:
    talk.send("setoption name UCI_LimitStrength value true")
    assert "not for 'mock': Strength holds" in talk.lines[-1]
    talk.send("position startpos", "go")
    assert talk.until("bestmove").startswith("bestmove h2h4")
