"""When the UCI engine answers: stop, ponder, infinite, deadlines, and the order of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import chess
import pytest
from uci_talk import WAIT, GatedAgent, Talk

from diffusearch.agents.base import Candidate, Decision, Limits, LookAhead
from diffusearch.play.uci import Terminated, converse
from diffusearch.play.uci_options import UciOptions

# a thread that dies of an exception is a failure, not a remark
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def test_stop_in_the_middle_of_a_decision_plays_the_first_look(talk: Talk, gated: GatedAgent) -> None:
    talk.ready()
    gated.gate.clear()
    gated.thinking.clear()
    talk.send("go infinite")
    assert gated.thinking.wait(WAIT)
    talk.send("stop")
    assert talk.lines[-1].startswith("bestmove a2a3")  # at once: the full decision is still at the gate
    gated.gate.set()
    talk.send("stop", "position startpos", "go nodes 1")
    talk.until("bestmove", 2)
    assert len(talk.starting("bestmove")) == 2


@pytest.mark.parametrize(
    "kind", ["go infinite", "go ponder", "go ponder wtime 60000 btime 60000", "go ponder movetime 9000"]
)
def test_no_bestmove_before_stop(talk: Talk, gated: GatedAgent, kind: str) -> None:
    talk.send(kind)
    talk.until("info depth", 2)  # the full decision is complete
    talk.send("isready")
    talk.until("readyok")
    assert not talk.starting("bestmove")
    talk.send("stop")
    assert talk.until("bestmove").startswith("bestmove h2h4")


def test_ponderhit_after_the_decision_answers_at_once(talk: Talk) -> None:
    talk.send("position startpos moves e2e4", "go ponder wtime 60000 btime 60000")
    talk.until("info depth", 2)
    talk.send("ponderhit")
    talk.until("bestmove")
    talk.send("ponderhit", "stop")
    assert len(talk.starting("bestmove")) == 1


def test_ponderhit_during_the_decision_starts_the_clock(talk: Talk, gated: GatedAgent) -> None:
    talk.ready()
    gated.gate.clear()
    gated.thinking.clear()
    talk.send("go ponder wtime 1000 btime 1000 movestogo 1")
    assert gated.thinking.wait(WAIT)
    assert not talk.starting("bestmove")
    talk.send("ponderhit")  # the decision never comes back from the gate: the deadline must
    assert talk.until("bestmove").startswith("bestmove a2a3")


def test_pondering_takes_no_more_than_a_move_may(talk: Talk, gated: GatedAgent) -> None:
    # It cannot be interrupted: a long one would run on into our own time when another move than the expected comes.
    talk.ready()
    warm = len(gated.asked)
    talk.send("go ponder wtime 100 btime 100")
    talk.until("info depth")
    talk.send("stop")
    talk.until("bestmove")
    talk.ready()  # the worker has come to its end
    assert [limits.steps for limits in gated.asked[warm:]] == [1]


def test_the_deadline_plays_the_first_look_when_the_decision_is_late(talk: Talk, gated: GatedAgent) -> None:
    talk.ready()
    gated.gate.clear()
    gated.thinking.clear()
    talk.send("go movetime 200")
    assert talk.until("bestmove").startswith("bestmove a2a3")
    gated.gate.set()
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(talk.starting("bestmove")) == 1
    assert talk.lines[-2].startswith("bestmove")  # no info after it from the late decision


def test_no_time_at_all_gives_a_fallback_move(talk: Talk, gated: GatedAgent) -> None:
    talk.send("isready")
    talk.until("readyok")
    asked = len(gated.asked)
    talk.send("position fen 7k/8/6K1/8/8/8/8/R7 w - - 0 1", "go wtime 0 btime 0")
    assert talk.until("bestmove") == "bestmove a1a8"  # mate
    assert talk.lines[-3] == "info string No time for the network: this is a fallback move."
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(gated.asked) == asked


def test_a_fallback_move_answers_while_the_worker_is_stuck_in_an_old_decision(talk: Talk, gated: GatedAgent) -> None:
    talk.ready()
    gated.gate.clear()
    gated.thinking.clear()
    talk.send("go infinite")
    assert gated.thinking.wait(WAIT)
    talk.send("stop", "position startpos moves e2e4", "go wtime 100 btime 100")
    talk.until("info string No time for the network")
    move = talk.until("bestmove", 2).split()[1]
    assert (
        chess.Move.from_uci(move)
        in chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").legal_moves
    )
    gated.gate.set()
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(talk.starting("bestmove")) == 2


def test_a_second_go_answers_the_first(talk: Talk) -> None:
    talk.send("go infinite", "go infinite", "position startpos moves e2e4", "go")
    talk.until("bestmove", 3)
    assert len(talk.starting("bestmove")) == 3


def legal_in(answer: str, *moves: str) -> bool:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return chess.Move.from_uci(answer.split()[1]) in board.legal_moves


def test_answers_come_in_the_order_of_the_gos() -> None:
    """The second `go` must be answered by its clock while the first one's look is still being computed."""
    slow = GatedAgent()
    talk = Talk(slow, Agent="mock")
    talk.ready()
    slow.gate_looks = True
    slow.gate.clear()
    slow.thinking.clear()
    talk.send("position startpos", "go ponder wtime 60000 btime 60000")
    assert slow.thinking.wait(WAIT)
    talk.send("stop", "position startpos moves e2e4", "go wtime 120 btime 120")
    first, second = talk.until("bestmove"), talk.until("bestmove", 2)
    assert legal_in(first)
    assert legal_in(second, "e2e4")
    slow.gate.set()
    talk.ready()
    assert len(talk.starting("bestmove")) == 2
    assert talk.lines[-2] == second  # nothing of the late looks comes behind
    assert talk.engine.close()


def test_many_gos_without_waiting_are_answered_in_order() -> None:
    slow = GatedAgent(gate_looks=True)
    slow.gate.clear()
    talk = Talk(slow, Agent="mock")
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"]
    for played in range(len(moves)):
        talk.send(f"position startpos moves {' '.join(moves[:played])}", "go infinite" if played % 2 else "go", "stop")
    talk.send("position startpos", "go wtime 50 btime 50")
    talk.until("bestmove", len(moves) + 1)
    answers = talk.starting("bestmove")
    assert all(legal_in(answer, *moves[:played]) for played, answer in enumerate(answers[:-1]))
    assert legal_in(answers[-1])
    slow.gate.set()
    talk.ready()
    assert len(talk.starting("bestmove")) == len(moves) + 1
    assert talk.engine.close()


def test_infinite_says_that_it_waits_for_stop(talk: Talk) -> None:
    talk.send("go infinite")
    talk.until("info string The search is complete; bestmove is sent after stop.")
    assert not talk.starting("bestmove")
    talk.send("stop")
    talk.until("bestmove")


class Searcher(GatedAgent):
    """Searches as many nodes as it is given, up to a thousand."""

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        decision = super().play(board, limits)
        nodes = min(limits.nodes or 50, 1000)
        report = LookAhead((Candidate(decision.move, 1.0, 0.5, 0.6, (decision.move,)),))
        return replace(decision, nodes=nodes, look_ahead=report, imagination=None)


def test_an_infinite_search_goes_on_with_more_nodes() -> None:
    searcher = Searcher()
    talk = Talk(searcher, Agent="mock")
    talk.send("go infinite")
    talk.until("info string The search is complete")
    asked = [limits.nodes for limits in searcher.asked if limits.steps != 1]
    assert asked[:4] == [None, 100, 200, 400]
    assert not talk.starting("bestmove")
    talk.send("stop")
    talk.until("bestmove")
    assert talk.engine.close()


def test_a_signal_answers_at_once_with_what_there_is() -> None:
    slow = GatedAgent(gate_looks=True)
    slow.gate.clear()
    lines: list[str] = []

    def sent() -> Iterator[bytes]:
        yield b"go infinite\n"
        assert slow.thinking.wait(WAIT)
        raise Terminated

    assert not converse(sent(), lines.append, lambda text: slow, UciOptions(Agent="mock"))  # still at the gate
    assert "\n".join(lines).splitlines()[-1].startswith("bestmove ")
    slow.gate.set()
