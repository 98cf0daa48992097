"""What the UCI engine asks of its agent: steps, nodes, root moves, lines and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import chess
import pytest
from uci_talk import GatedAgent, Talk

from diffusearch.agents.base import Candidate, Decision, Limits, LookAhead
from diffusearch.agents.build import agent
from diffusearch.agents.searching import SearchAgent
from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.play.scoring import filled, scored
from diffusearch.search.dynamics import Rules
from diffusearch.search.handmade import Handmade
from diffusearch.search.minimax.planner import Minimax
from diffusearch.tokens.values import centipawns

# a thread that dies of an exception is a failure, not a remark
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


def test_limits_and_searchmoves_reach_the_agent(talk: Talk, gated: GatedAgent) -> None:
    talk.send("go nodes 12 depth 2 searchmoves e2e4 d2d4 a1a8")
    assert talk.until("bestmove").startswith("bestmove e2e4")
    (full,) = [limits for limits in gated.asked if limits.depth == 2]
    assert (full.steps, full.nodes) == (9, 9)  # 1 for the first look, 9 steps, 2 for the scores of the two moves
    assert talk.starting("info depth")[-1].split(" nodes ")[1].split()[0] == "12"
    assert {move.uci() for move in full.moves} == {"e2e4", "d2d4"}
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
    assert all(" score cp 0 " in line for line in lines)


def test_every_line_has_the_score_of_its_move(talk: Talk) -> None:
    talk.send("setoption name MultiPV value 3", "go searchmoves e2e4 d2d4 a2a3")
    talk.until("bestmove")
    scores = {line.split(" pv ")[1].split()[0]: line.split(" score cp ")[1].split()[0] for line in talk.lines[-4:-1]}
    assert scores == {move: str(centipawns(1 - value)) for move, value in (("e2e4", 0.4), ("d2d4", 0.3), ("a2a3", 0.5))}


def test_with_searchmoves_the_score_is_that_of_the_move(talk: Talk) -> None:
    talk.send("go searchmoves d2d4")
    talk.until("bestmove d2d4")
    assert f" score cp {centipawns(0.7)} " in talk.lines[-2]


def test_a_searched_line_keeps_the_score_of_the_search() -> None:
    board, e4, d4 = chess.Board(), chess.Move.from_uci("e2e4"), chess.Move.from_uci("d2d4")
    report = LookAhead((Candidate(e4, 0.6, 0.5, 0.55, (e4,)), Candidate(d4, 0.4, 0.5, 0.45, (d4,))))
    first = Decision(e4, {e4: 0.6, d4: 0.4}, (e4,), 0.55, 60, look_ahead=report)
    lines = filled(board, [first], (), 3)
    assert [(one.move, one.value) for one in lines[:2]] == [(e4, 0.55), (d4, 0.45)]
    values, evaluations = scored(GatedAgent(), board, lines)
    assert [one.value for one in values] == [0.55, 0.45, 0.5]  # only the third had to be looked at
    assert evaluations == 1


def test_a_mate_among_the_lines_is_worth_everything() -> None:
    board = chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    mate = chess.Move.from_uci("a1a8")
    quiet = GatedAgent().play(board, Limits(steps=1))
    values, _ = scored(GatedAgent(), board, [quiet, replace(quiet, move=mate)])
    assert [one.value for one in values] == [0.5, 1.0]


def test_a_move_that_draws_by_the_rules_is_worth_half_and_asks_nobody() -> None:
    board, rook = chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 99 90"), chess.Move.from_uci("a1a2")
    (one,), evaluations = scored(GatedAgent(), board, [Decision(rook, {rook: 1.0}, (rook,), 0.9)])
    assert (one.value, evaluations) == (0.5, 0)


def test_a_look_of_a_search_has_no_score_of_its_move() -> None:
    """A search that was cut to one look gives the value of the position, with or without a report."""
    board, d4 = chess.Board(), chess.Move.from_uci("d2d4")
    for report in (None, LookAhead((Candidate(d4, 0.4),))):
        look = Decision(d4, {d4: 1.0}, (d4,), 0.5, 1, look_ahead=report)
        (one,), evaluations = scored(GatedAgent(), board, [look])
        assert (one.value, evaluations) == (0.7, 1)
    (engine,), evaluations = scored(GatedAgent(), board, [Decision(d4, {}, (d4,), 0.6)], engine=True)
    assert (engine.value, evaluations) == (0.6, 0)


class Wide(GatedAgent):
    """Evaluates more positions the more steps it has."""

    def work(self, steps: int) -> int:
        return steps**3

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        decision = super().play(board, limits)
        return replace(decision, nodes=self.work(decision.nodes))


def test_nodes_are_evaluations_and_may_be_many_a_step() -> None:
    wide = Wide()
    talk = Talk(wide)
    for nodes, steps in ((1001, 10), (1000, 9), (7, 1)):
        talk.send(f"go nodes {nodes}")
        talk.until("bestmove", len(talk.starting("bestmove")) + 1)
        assert wide.asked[-1].steps == steps
    assert [limits.steps for limits in wide.asked[:6]] == [1, 1, 1, None, 3, 20]  # how fast it is, also in batches
    assert talk.engine.close()


def test_drafts_never_take_more_nodes_than_allowed() -> None:
    talk = Talk(agent("diffusearch"))
    try:
        told = []
        for count, nodes in enumerate((1, 12, 20, 37, 38, 62), start=1):
            talk.send(f"go nodes {nodes}")
            talk.until("bestmove", count)
            told.append(int(talk.starting("info depth")[-1].split(" nodes ")[1].split()[0]))
            assert told[-1] <= nodes
        assert told[-1] > 38 > told[2] > 12  # more nodes are more drafts
        talk.send("setoption name MultiPV value 2", "go nodes 30")
        talk.until("bestmove", 7)
        lines = talk.starting("info depth")[-2:]
        assert all(" score cp " in line for line in lines)
        assert int(lines[-1].split(" nodes ")[1].split()[0]) <= 30
    finally:
        assert talk.engine.close()


def test_only_where_time_was_short_a_look_makes_batches_worth_another_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = Wide()
    talk = Talk(wide)
    talk.send("isready")
    talk.until("readyok")
    relaxed: list[int] = []
    monkeypatch.setattr(talk.engine._deciding.known.speed, "relax_batches", lambda: relaxed.append(1))
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


class Counting(Handmade):
    """Counts the positions that it is asked about."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        self.asked.append(len(boards))
        return super().evaluate(boards, legal, priors=priors)


@pytest.mark.parametrize(
    ("limit", "positions", "calls"),
    [
        # The look, the tree of 5 calls, then what 6x3x2x2x1 has more in 5 calls: 205 positions, 45 are there, and 16
        # leaves are looked at again for their moves.
        ("nodes 222", [1, 45, 176], 11),
        ("nodes 221", [1, 45], 6),
        ("nodes 800", [1, 45, 176, 316, 260], 21),
        ("depth 5", [1, 45, 176], 11),
        ("depth 4", [1, 45], 6),
    ],
)
def test_a_wider_search_goes_on_with_the_tree_before(limit: str, positions: list[int], calls: int) -> None:
    net = Counting()
    talk = Talk(SearchAgent(Minimax(net, Rules())))
    talk.ready()
    net.asked.clear()
    talk.send(f"go {limit}")
    talk.until("bestmove")
    assert (sum(net.asked), len(net.asked)) == (sum(positions), calls)
    told = [int(line.split(" nodes ")[1].split()[0]) for line in talk.starting("info depth")]
    assert told == list(accumulate(positions))
    assert talk.engine.close()


class Broken(GatedAgent):
    """Fails, or cheats, in its full decision."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault, self.armed = fault, False

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        decision = super().play(board, limits)
        if limits.steps == 1 or not self.armed:
            return decision
        if self.fault == "crash":
            raise ZeroDivisionError("two\nlines")
        cheat = chess.Move.from_uci("e1e8")
        return Decision(cheat, {cheat: 1.0}, (cheat,), imagination=decision.imagination)


@pytest.mark.parametrize(("fault", "words"), [("crash", "Error: two lines"), ("cheat", "e1e8, which is not")])
def test_a_failing_agent_neither_crashes_the_engine_nor_plays_illegally(fault: str, words: str) -> None:
    broken = Broken(fault)
    talk = Talk(broken)
    talk.ready()
    broken.armed = True
    talk.send("go")
    assert talk.until("bestmove").startswith("bestmove a2a3")  # the first look
    assert words in talk.until("info string")
    talk.send("isready")
    talk.until("readyok")
    assert talk.engine.close()


class Weakened(GatedAgent):
    """Samples its move in `play`, as agents below their full strength do; `analyse` would give the best lines."""

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        raise AssertionError("below full strength the move is that of `play`")


def test_below_full_strength_the_bestmove_is_the_sampled_one_with_any_number_of_lines() -> None:
    talk = Talk(Weakened(), Agent="s-a", Strength=40)
    try:
        talk.send("setoption name MultiPV value 3", "position startpos", "go")
        assert talk.until("bestmove").startswith("bestmove h2h4")  # what Weakened.play chose
        lines = talk.starting("info depth")[-3:]
        assert [line.split(" multipv ")[1][0] for line in lines] == ["1", "2", "3"]
        assert " pv h2h4" in lines[0]
    finally:
        assert talk.engine.close()


def test_strength_reduces_the_steps_once() -> None:
    agent = GatedAgent()
    talk = Talk(agent, Agent="s-a", Strength=40)
    try:
        talk.send("position startpos", "go")
        talk.until("bestmove")
        assert agent.asked[-1].steps == 20  # the agent was built with its strength: these are its own steps
        talk.send("setoption name Steps value 10", "go")
        talk.until("bestmove", 2)
        assert agent.asked[-1].steps == 4  # given steps replace them
    finally:
        assert talk.engine.close()
