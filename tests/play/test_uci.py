"""The engine behind the protocol, with agents that are let go by the test: who answers what, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version

import chess
import pytest
from diffusearch.inference.imagination import Imagination

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.errors import UserError
from diffusearch.play.engine import Engine
from diffusearch.play.uci import Protocol, converse
from diffusearch.play.uci_options import Options

# a thread that dies of an exception is a failure, not a remark
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

WAIT = 20.0  # seconds until a test gives up; nothing here takes that long unless it is broken


class Dreamer(Agent):
    """Denoises in no time, or, in the full thought, when the gate is opened. Expects the mirror of its own move."""

    name = "dreamer"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.thinking = threading.Event()  # set while a full thought waits at the gate
        self.asked: list[Limits] = []
        self.boards: list[chess.Board] = []
        self.games = 0
        self.closed = False

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        self.asked.append(limits)
        self.boards.append(board)
        if limits.steps != 1:
            self.thinking.set()
            assert self.gate.wait(WAIT)
        moves = sorted(limits.moves or board.legal_moves, key=chess.Move.uci)
        best = moves[0] if limits.steps == 1 else moves[-1]
        reply = chess.Move(best.from_square ^ 56, best.to_square ^ 56)
        shares = dict.fromkeys(board.legal_moves, 1 / board.legal_moves.count())
        dream = Imagination(board.fen(), best.uci(), {}, (), steps=limits.steps or 20)
        return Decision(best, shares, (best, reply), 0.5, limits.steps or 20, 0.0, dream)

    def new_game(self) -> None:
        self.games += 1

    def close(self) -> None:
        self.closed = True


class Talk:
    """A conversation whose answers can be waited for."""

    def __init__(self, agent: Agent, **options: str | int | bool) -> None:
        self.lines: list[str] = []
        self.changed = threading.Condition()
        self.built: list[str] = []
        self.agent = agent
        self.engine = Engine(self.hear, self.build, Options(**options))
        self.protocol = Protocol(self.engine)

    def build(self, text: str) -> Agent:
        self.built.append(text)
        return self.agent

    def hear(self, line: str) -> None:
        with self.changed:
            self.lines.extend(line.split("\n"))
            self.changed.notify_all()

    def send(self, *lines: str) -> None:
        for line in lines:
            assert self.protocol.line(line)

    def until(self, start: str, count: int = 1) -> str:
        """Wait for the `count`th line that starts so, and give it back."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.starting(start)) >= count, WAIT), self.lines
            return self.starting(start)[count - 1]

    def starting(self, start: str) -> list[str]:
        return [line for line in self.lines if line.startswith(start)]


@pytest.fixture
def dreamer() -> Dreamer:
    return Dreamer()


@pytest.fixture
def talk(dreamer: Dreamer) -> Iterator[Talk]:
    conversation = Talk(dreamer, Agent="mock")
    yield conversation
    dreamer.gate.set()
    assert conversation.engine.close()
    assert dreamer.closed or not conversation.built


def test_uci_answers_without_building_an_agent(talk: Talk) -> None:
    talk.send("uci")
    assert talk.lines[0] == f"id name DiffuSearch {version('diffusearch')}"
    assert talk.lines[-1] == "uciok"
    assert talk.built == []


def test_isready_builds_the_agent(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready")
    talk.until("readyok")
    assert talk.built == ["mock"]
    assert all(limits.steps == 1 for limits in dreamer.asked)


def test_go_shows_the_line_then_answers_with_the_reply_to_ponder(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("position startpos", "go")
    assert talk.until("bestmove") == "bestmove h2h4 ponder h7h5"
    assert talk.lines[-2].startswith("info depth 2 multipv 1 score cp 0 nodes 20 ")
    assert talk.lines[-2].endswith(" pv h2h4 h7h5")
    assert dreamer.asked[-1].steps == 20


def test_the_agent_sees_the_moves_of_the_game(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("position startpos moves g1f3 g8f6 f3g1 f6g8", "go")
    talk.until("bestmove")
    assert [move.uci() for move in dreamer.boards[-1].move_stack] == ["g1f3", "g8f6", "f3g1", "f6g8"]


def test_isready_is_answered_while_thinking(talk: Talk, dreamer: Dreamer) -> None:
    dreamer.gate.clear()
    talk.send("go")
    assert dreamer.thinking.wait(WAIT)
    talk.send("isready")
    talk.until("readyok")
    assert not talk.starting("bestmove")
    dreamer.gate.set()
    talk.until("bestmove h2h4")


def test_stop_in_the_middle_of_a_thought_plays_the_glance(talk: Talk, dreamer: Dreamer) -> None:
    dreamer.gate.clear()
    talk.send("go infinite")
    assert dreamer.thinking.wait(WAIT)
    talk.send("stop")
    assert talk.lines[-1].startswith("bestmove a2a3")  # at once: the full thought is still at the gate
    dreamer.gate.set()
    talk.send("stop", "position startpos", "go nodes 1")
    talk.until("bestmove", 2)
    assert len(talk.starting("bestmove")) == 2


@pytest.mark.parametrize(
    "kind", ["go infinite", "go ponder", "go ponder wtime 60000 btime 60000", "go ponder movetime 9000"]
)
def test_no_bestmove_before_stop(talk: Talk, dreamer: Dreamer, kind: str) -> None:
    talk.send(kind)
    talk.until("info depth", 2)  # the full thought is complete
    talk.send("isready")
    talk.until("readyok")
    assert not talk.starting("bestmove")
    talk.send("stop")
    assert talk.until("bestmove").startswith("bestmove h2h4")


def test_ponderhit_after_the_thought_answers_at_once(talk: Talk) -> None:
    talk.send("position startpos moves e2e4", "go ponder wtime 60000 btime 60000")
    talk.until("info depth", 2)
    talk.send("ponderhit")
    talk.until("bestmove")
    talk.send("ponderhit", "stop")
    assert len(talk.starting("bestmove")) == 1


def test_ponderhit_during_the_thought_starts_the_clock(talk: Talk, dreamer: Dreamer) -> None:
    dreamer.gate.clear()
    talk.send("go ponder wtime 1000 btime 1000 movestogo 1")
    assert dreamer.thinking.wait(WAIT)
    assert not talk.starting("bestmove")
    talk.send("ponderhit")  # the thought never comes back from the gate: the deadline must
    assert talk.until("bestmove").startswith("bestmove a2a3")


def test_pondering_takes_no_more_than_a_move_may(talk: Talk, dreamer: Dreamer) -> None:
    # It cannot be interrupted: a long one would run on into our own time when another move than the expected comes.
    talk.send("go ponder wtime 100 btime 100")
    talk.until("info depth")
    talk.send("stop")
    talk.until("bestmove")
    talk.send("isready")
    talk.until("readyok")  # the worker has come to its end
    assert [limits.steps for limits in dreamer.asked] == [1] * len(dreamer.asked)


def test_the_deadline_plays_the_glance_when_the_thought_is_late(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready")
    talk.until("readyok")
    dreamer.gate.clear()
    talk.send("go movetime 200")
    assert talk.until("bestmove").startswith("bestmove a2a3")
    dreamer.gate.set()
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(talk.starting("bestmove")) == 1
    assert talk.lines[-2].startswith("bestmove")  # no info after it from the late thought


def test_no_time_at_all_gives_a_move_by_reflex(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready")
    talk.until("readyok")
    asked = len(dreamer.asked)
    talk.send("position fen 7k/8/6K1/8/8/8/8/R7 w - - 0 1", "go wtime 0 btime 0")
    assert talk.until("bestmove") == "bestmove a1a8"  # mate
    assert talk.lines[-3] == "info string No time to imagine: a move by reflex."
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(dreamer.asked) == asked


def test_a_reflex_answers_while_the_worker_is_stuck_in_an_old_thought(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready")
    talk.until("readyok")
    dreamer.gate.clear()
    talk.send("go infinite")
    assert dreamer.thinking.wait(WAIT)
    talk.send("stop", "position startpos moves e2e4", "go wtime 100 btime 100")
    talk.until("info string No time to imagine")
    move = talk.until("bestmove", 2).split()[1]
    assert (
        chess.Move.from_uci(move)
        in chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").legal_moves
    )
    dreamer.gate.set()
    talk.send("isready")
    talk.until("readyok", 2)
    assert len(talk.starting("bestmove")) == 2


def test_limits_and_searchmoves_reach_the_agent(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("go nodes 5 depth 2 searchmoves e2e4 d2d4 a1a8")
    assert talk.until("bestmove").startswith("bestmove e2e4")
    assert (dreamer.asked[-1].steps, dreamer.asked[-1].nodes, dreamer.asked[-1].depth) == (5, 5, 2)
    assert {move.uci() for move in dreamer.asked[-1].moves} == {"e2e4", "d2d4"}
    talk.send("go searchmoves e7e5")
    talk.until("info string None of the searchmoves")
    talk.until("bestmove h2h4")


def test_multipv_is_filled_up_with_candidates(talk: Talk) -> None:
    talk.send("setoption name MultiPV value 3", "go")
    talk.until("bestmove")
    ranks = [line.split(" multipv ")[1][0] for line in talk.starting("info depth")]
    assert ranks == ["1", "1", "2", "3"]
    lines = talk.starting("info depth")[1:]
    assert len({line.split(" pv ")[1].split()[0] for line in lines}) == 3


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


def test_a_second_go_answers_the_first(talk: Talk) -> None:
    talk.send("go infinite", "go infinite", "position startpos moves e2e4", "go")
    talk.until("bestmove", 3)
    assert len(talk.starting("bestmove")) == 3


def test_unknown_words_are_passed_over(talk: Talk) -> None:
    talk.send("", "   ", "xyzzy", "joho debug on", "setoption", "setoption name Nonsense value 1", "please uci now")
    assert talk.until("uciok")
    assert talk.lines[0] == "info string Option refused: write `setoption name NAME value VALUE`."
    assert talk.lines[1].startswith("info string No such option: 'Nonsense'")


def test_a_new_game_is_told_to_the_agent(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready", "ucinewgame", "isready")
    talk.until("readyok", 2)
    assert dreamer.games == 1


def test_changed_options_build_the_agent_anew(talk: Talk, dreamer: Dreamer) -> None:
    talk.send("isready")
    talk.until("readyok")
    talk.send("setoption name Steps value 3", "go")
    talk.until("bestmove")
    assert dreamer.asked[-1].steps == 3
    assert talk.built == ["mock"]  # steps are a limit of the move
    talk.send("setoption name Agent value other", "isready")
    talk.until("readyok", 2)
    assert talk.built == ["mock", "other"]


class Wide(Dreamer):
    """Evaluates more positions the more steps it has."""

    def work(self, steps: int) -> int:
        return steps**3

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        decision = super().play(board, limits)
        return replace(decision, nodes=self.work(decision.nodes))


def test_nodes_are_evaluations_and_may_be_many_a_step() -> None:
    wide = Wide()
    talk = Talk(wide)
    for nodes, steps in ((1000, 10), (999, 9), (7, 1)):
        talk.send(f"go nodes {nodes}")
        talk.until("bestmove", len(talk.starting("bestmove")) + 1)
        assert wide.asked[-1].steps == steps
    assert [limits.steps for limits in wide.asked[:4]] == [1, 1, 3, 9]  # how fast it is, also side by side
    assert talk.engine.close()


def test_only_where_time_was_short_a_glance_makes_batches_worth_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Wide()
    talk = Talk(wide)
    talk.send("isready")
    talk.until("readyok")
    relaxed: list[int] = []
    monkeypatch.setattr(talk.engine._speed, "relax_batches", lambda: relaxed.append(1))
    glances = len(wide.asked)
    talk.send("position fen 7k/8/8/8/8/8/1r6/K6r w - - 0 1", "go movetime 60000")  # Kxb2 is all there is
    talk.until("bestmove a1b2")
    talk.send("position startpos", "go nodes 1")
    talk.until("bestmove", 2)
    assert relaxed == []
    talk.send("setoption name Steps value 1", "go movetime 60000")
    talk.until("bestmove", 3)
    assert relaxed == [1]
    assert [limits.steps for limits in wide.asked[glances:]] == [1, 1, 1]
    assert talk.engine.close()


class Broken(Dreamer):
    """Fails, or cheats, in its full thought."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        decision = super().play(board, limits)
        if limits.steps == 1:
            return decision
        if self.fault == "crash":
            raise ZeroDivisionError("two\nlines")
        cheat = chess.Move.from_uci("e1e8")
        return Decision(cheat, {cheat: 1.0}, (cheat,), imagination=decision.imagination)


@pytest.mark.parametrize(("fault", "words"), [("crash", "Error: two lines"), ("cheat", "e1e8, which is not")])
def test_a_failing_agent_neither_crashes_the_engine_nor_plays_illegally(fault: str, words: str) -> None:
    talk = Talk(Broken(fault))
    talk.send("go")
    assert talk.until("bestmove").startswith("bestmove a2a3")  # the glance
    assert words in talk.until("info string")
    talk.send("isready")
    talk.until("readyok")
    assert talk.engine.close()


def test_an_agent_that_cannot_be_built_is_explained() -> None:
    def refuse(text: str) -> Agent:
        raise UserError(f"There are no weights for {text!r}.")

    lines: list[str] = []
    assert converse([b"isready\n", b"go\n", b"quit\n"], lines.append, refuse, Options(Agent="mock"))
    told = "info string There are no weights for 'mock'."
    assert lines == [told, "readyok", told, "bestmove (none)"]


@pytest.mark.parametrize("end", [[], [b"quit\n"]])
def test_an_open_go_is_answered_before_the_end(end: list[bytes]) -> None:
    lines: list[str] = []
    assert converse([b"uci\n", b"go movetime 50\n", *end], lines.append, lambda text: Dreamer(), Options(Agent="mock"))
    assert lines[-1].startswith("bestmove ")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    lines: list[str] = []
    junk = [bytes(range(256)) + b"\n", b"\xff\xfe go\n", b"position fen \x00\n", b"go\n"]
    assert converse(junk, lines.append, lambda text: Dreamer(), Options(Agent="mock"))
    assert sum(line.startswith("bestmove") for line in lines) == 2
