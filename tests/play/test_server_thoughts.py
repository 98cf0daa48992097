"""What the API shows of a decision: counts, the recorded film, the searched moves; draw offers, loading, review."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, replace
from typing import Any

import chess
import pytest
from fastapi.testclient import TestClient

from diffusearch.agents.base import Agent, Candidate, Decision, Limits, LookAhead
from diffusearch.errors import UserError
from diffusearch.inference.imagination import Frame, Imagination, Ply, letters
from diffusearch.play.api import Service
from diffusearch.play.opponents import Level, Opponent, Opponents
from diffusearch.play.rating_scale import ratings
from diffusearch.play.review import review_of
from diffusearch.play.server import create_app
from diffusearch.play.thoughts import accepts_draw, thought_of

WAIT = 60.0


def move(uci: str) -> chess.Move:
    return chess.Move.from_uci(uci)


def mating(board: chess.Board, frames: int) -> Decision:
    """A decision for Ra8 mate, with two plies predicted behind the end of the game and `frames` recorded steps."""
    mate = move("a1a8")
    after = board.copy()
    after.push(mate)
    squares = letters(after)
    over = Ply(None, True, None, "the game is over", True)
    line = (Ply("a1a8", True, after.fen(), None, True, squares), over, over)
    film = tuple(
        Frame(
            step, ("a1a8", None, None), (squares, "?" * 64, "?" * 64), ((0.5,) * 64,) * 3, {"a1a8": 0.75, "a1a2": 0.25}
        )
        for step in range(frames)
    )
    imagination = Imagination(board.fen(), "a1a8", {"a1a8": 1.0}, line, film, steps=7, evaluations=31)
    return Decision(mate, {mate: 1.0}, (mate,), 0.9, 31, 0.1, imagination)


BOARD = chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")


def test_the_counts_are_those_of_the_decision() -> None:
    thought = thought_of("x", BOARD, mating(BOARD, 0))
    assert (thought.steps, thought.evaluations) == (7, 31)
    plain = thought_of("x", BOARD, Decision(move("a1a8"), {}, nodes=12))
    assert (plain.steps, plain.evaluations) == (None, 12)


@pytest.mark.parametrize("illegal", ["a1b2", "b1b2"])
def test_an_illegal_choice_is_refused(illegal: str) -> None:
    with pytest.raises(UserError, match=f"x.legal=off chose {illegal}, which is not legal in .*: leave legal=off out"):
        thought_of("x?legal=off", BOARD, Decision(move(illegal), {}))
    after = BOARD.copy()
    after.push(move("a1a2"))
    chosen = Decision(move(illegal), {}, value=0.5)
    with pytest.raises(UserError, match=f"x chose {illegal}, which is not legal"):
        review_of("x", 0, [BOARD, after], [chosen, replace(chosen, move=next(iter(after.legal_moves)))])


def test_the_film_shows_the_legal_moves_of_a_step() -> None:
    decision = mating(BOARD, 1)
    assert decision.imagination is not None
    frame = replace(decision.imagination.film[0], probabilities={"b1b2": 0.5, "a1a8": 0.25})
    unmasked = replace(decision, imagination=replace(decision.imagination, film=(frame,)))
    assert [one.uci for one in thought_of("x", BOARD, unmasked).film[0].candidates] == ["a1a8"]


def test_there_is_no_film_where_nothing_was_recorded() -> None:
    assert thought_of("x", BOARD, mating(BOARD, 0)).film == []
    assert thought_of("x", BOARD, Decision(move("a1a8"), {})).film == []


def test_nothing_is_masked_where_the_game_is_over() -> None:
    thought = thought_of("x", BOARD, mating(BOARD, 3))
    assert [ply.uci for ply in thought.line] == ["a1a8"]
    assert [frame.step for frame in thought.film] == [0, 1, 2]
    for frame in thought.film:
        assert frame.moves == ["a1a8"]
        assert len(frame.squares) == len(frame.confidence) == 1
        assert "?" not in frame.squares[0]
        assert frame.confidence[0] == [0.5] * 64
        assert [(one.san, one.probability) for one in frame.candidates] == [("Ra8#", 0.75), ("Ra2", 0.25)]


def test_a_search_shows_its_candidates_with_their_lines() -> None:
    board = chess.Board()
    report = LookAhead(
        (
            Candidate(move("e2e4"), 0.4, 0.52, 0.55, (move("e2e4"), move("e7e5"), move("e4e5"))),
            Candidate(move("d2d4"), 0.6),
        )
    )
    thought = thought_of("x", board, Decision(move("e2e4"), {}, nodes=67, look_ahead=report))
    assert thought.look_ahead is not None
    first, second = thought.look_ahead.candidates
    assert (first.san, first.prior, first.value, first.score) == ("e4", 0.4, 0.52, 0.55)
    assert [ply.san for ply in first.line] == ["e4", "e5"]  # as far as it is legal
    assert (second.value, second.score, [ply.uci for ply in second.line]) == (None, None, ["d2d4"])
    assert thought_of("x", board, Decision(move("e2e4"), {})).look_ahead is None


@pytest.mark.parametrize(
    ("value", "number", "accepted"),
    [
        (0.3, 1, True),
        (0.45, 1, True),
        (0.5, 1, False),
        (0.5, 39, False),
        (0.5, 40, True),
        (0.6, 90, False),
        (None, 90, False),
    ],
)
def test_draw_offers_are_answered_by_the_value(value: float | None, number: int, accepted: bool) -> None:
    board = chess.Board()
    board.fullmove_number = number
    assert accepts_draw(board, value) is accepted


class Sure(Agent):
    """Plays the first legal move; White is sure to win with it, or to lose."""

    def __init__(self, value: float = 0.9) -> None:
        self.white = value

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        best = min(board.legal_moves, key=chess.Move.uci)
        value = self.white if board.turn else 1 - self.white
        return Decision(best, {best: 1.0}, (best,), value, 1)


def client_of(agent: Agent, **opponent: Any) -> TestClient:
    listed = Opponent("sure", "Sure", "A test", (Level("full", "sure", **opponent),))
    return TestClient(create_app(Service(Opponents([listed], lambda _: agent)), None), base_url="http://localhost")


def test_a_draw_offer_goes_with_the_move() -> None:
    client = client_of(Sure(0.9))
    black = {"agent": "sure", "moves": ["e2e4"]}
    assert client.post("/api/think", json=black).json()["draw_accepted"] is None
    assert client.post("/api/think", json={**black, "draw_offered": True}).json()["draw_accepted"] is True
    assert client.post("/api/think", json={"agent": "sure", "draw_offered": True}).json()["draw_accepted"] is False


def test_levels_carry_their_rating() -> None:
    (card,) = client_of(Sure(), rated_as="search").get("/api/agents").json()
    assert card["levels"] == [{"label": "full", "rating": asdict(ratings()["search"])}]
    (card,) = client_of(Sure()).get("/api/agents").json()
    assert card["levels"] == [{"label": "full", "rating": None}]  # never measured


def test_the_list_is_there_while_the_network_loads_and_the_first_move_is_queued() -> None:
    gate = threading.Event()

    def build(_: str) -> Agent:
        assert gate.wait(WAIT)
        return Sure()

    listed = Opponent("sure", "Sure", "A test", (Level("full", "sure"),))
    client = TestClient(create_app(Service(Opponents([listed], build)), None), base_url="http://localhost")
    answers: list[Any] = []
    with client:
        assert client.get("/api/agents").json()[0]["state"] == "loading"
        asking = threading.Thread(target=lambda: answers.append(client.post("/api/think", json={"agent": "sure"})))
        asking.start()
        assert client.get("/api/agents").json()[0]["state"] == "loading"
        gate.set()
        asking.join(WAIT)
        end = time.monotonic() + WAIT
        while client.get("/api/agents").json()[0]["state"] == "loading":
            assert time.monotonic() < end
        assert client.get("/api/agents").json()[0]["state"] == "ready"
    assert answers[0].json()["move"] == "a2a3"


# --- review --------------------------------------------------------------------------------------------------------


class Judge(Sure):
    """White's chances fall from 0.6 to 0.2 with 2. g4, and Black's fall from 0.9 to 0.5 with 2... a6."""

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        moves = [played.uci() for played in board.move_stack]
        self.white = 0.2 if moves[-1:] == ["g2g4"] else 0.6
        return super().play(board, limits)


FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


def test_a_review_shows_values_and_what_each_move_cost() -> None:
    review = client_of(Judge()).post("/api/review", json={"agent": "sure", "moves": FOOLS_MATE}).json()
    assert review["start_value"] == 0.6
    assert [one["white_value"] for one in review["moves"]] == pytest.approx([0.6, 0.6, 0.2, 0.0])
    assert [one["san"] for one in review["moves"]] == ["f3", "e5", "g4", "Qh4#"]
    assert [one["loss"] for one in review["moves"]] == pytest.approx([0.0, 0.0, 0.4, 0.0])
    mistake = review["moves"][2]
    assert (mistake["side"], mistake["best"]["san"], mistake["ply"]) == ("white", "a3", 2)
    assert chess.Board(review["moves"][3]["fen"]).is_checkmate()


def test_a_review_in_slices_is_the_whole_review() -> None:
    client = client_of(Judge())
    whole = client.post("/api/review", json={"agent": "sure", "moves": FOOLS_MATE}).json()
    parts: list[Any] = []
    for first in range(0, 4, 2):
        asked = {"agent": "sure", "moves": FOOLS_MATE, "first": first, "count": 2}
        parts += client.post("/api/review", json=asked).json()["moves"]
    assert parts == whole["moves"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"moves": []}, 400, "none to review"),
        ({"moves": ["e2e4"], "first": 1}, 400, "none to review"),
        ({"moves": ["g1f3", "g8f6", "f3g1", "f6g8"] * 101}, 400, "at most 400"),
        ({"moves": ["e2e5"]}, 400, "not legal"),
        ({"moves": ["e2e4"], "count": 401}, 422, "count"),
        ({"moves": ["e2e4"], "agent": "nobody"}, 404, "nobody"),
    ],
)
def test_reviews_that_are_refused(body: dict[str, Any], status: int, words: str) -> None:
    answer = client_of(Sure()).post("/api/review", json={"agent": "sure", **body})
    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]


def test_an_agent_without_values_cannot_review(opponents: Opponents) -> None:
    client = TestClient(create_app(Service(opponents), None), base_url="http://localhost")
    answer = client.post("/api/review", json={"agent": "quiet", "moves": ["e2e4"]})
    assert answer.status_code == 400
    assert "no values" in answer.json()["detail"]


def test_pgn_knows_how_the_game_ended_outside_the_rules(opponents: Opponents) -> None:
    client = TestClient(create_app(Service(opponents), None), base_url="http://localhost")
    names = {"moves": ["e2e4"], "white": "A", "black": "B"}
    for ending, result, reason in (
        ({"flagged": "white"}, "0-1", "time forfeit"),
        ({"draw_agreed": True}, "1/2-1/2", "agreement"),
        ({"resigned": "black"}, "1-0", "resignation"),
    ):
        pgn = client.post("/api/pgn", json={**names, **ending}).json()["pgn"]
        assert f'[Result "{result}"]' in pgn
        assert f'[Termination "{reason}"]' in pgn
