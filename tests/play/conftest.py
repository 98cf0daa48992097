"""For the tests of the page: agents without weights (one dreams by rote, one waits to be let go) and a real server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
import uvicorn
from uci_talk import GatedAgent, Talk

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.errors import UserError
from diffusearch.inference.imagination import Frame, Imagination, Ply, letters
from diffusearch.play.api import Service
from diffusearch.play.opponents import Level, Opponent, Opponents
from diffusearch.play.server import config, create_app, listen

PLIES = 4
STEPS = 8


class Dreamer(Agent):
    """Plays the first of its favourite moves that is legal, and imagines four plies with one wrong square.

    Everything follows from the position, so that a test can say what will be on the screen.
    """

    name = "dreamer"
    favourites = ("d8h4", "e7e5", "d7d5", "g8f6", "b8c6", "e2e4", "d2d4", "g1f3", "b1c3")

    def choose(self, board: chess.Board) -> chess.Move:
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        for uci in self.favourites:
            if chess.Move.from_uci(uci) in legal:
                return chess.Move.from_uci(uci)
        return legal[0]

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        move = self.choose(board)
        legal = sorted(board.legal_moves, key=lambda other: (other != move, other.uci()))
        weights = [0.5**rank for rank in range(len(legal))]
        shares = {other: weight / sum(weights) for other, weight in zip(legal, weights, strict=True)}
        imagination = self.imagine(board, move, {other.uci(): share for other, share in shares.items()})
        line = tuple(chess.Move.from_uci(uci) for uci in imagination.moves)
        return Decision(move, shares, line, value=0.62, nodes=STEPS, seconds=0.01, imagination=imagination)

    def imagine(self, board: chess.Board, move: chess.Move, shares: dict[str, float]) -> Imagination:
        dream = board.copy(stack=False)
        plies: list[Ply] = []
        for number in range(PLIES):
            dream.push(move)
            squares, wrong = letters(dream), ()
            if number == PLIES - 1:  # the last board has a pawn of its own making on e5 or e6
                square = chess.E5 if dream.piece_at(chess.E5) is None else chess.E6
                place = 8 * (7 - chess.square_rank(square)) + chess.square_file(square)
                squares, wrong = squares[:place] + "p" + squares[place + 1 :], (square,)
            plies.append(Ply(move.uci(), True, dream.fen(), None, not wrong, squares, wrong))
            if dream.is_game_over():
                plies.append(Ply(None, True, None, "the game is over", True))
                break
            move = self.choose(dream)
        first = plies[0].move or ""
        return Imagination(board.fen(), first, shares, tuple(plies), self.film(plies), value=0.62, legal_mass=0.97)

    def film(self, plies: list[Ply]) -> tuple[Frame, ...]:
        """At each step every eighth square more is fixed on each board, and the moves come in at steps 2, 4, 6, 8."""
        frames = []
        for step in range(STEPS + 1):
            moves = tuple((ply.move or "0000") if step >= 2 * (i + 1) else None for i, ply in enumerate(plies))
            boards = tuple(
                "".join(letter if place % STEPS < step else "?" for place, letter in enumerate(ply.squares))
                for ply in plies
                if ply.squares
            )
            frames.append(Frame(step, moves, boards))
        return tuple(frames)


class Waiter(Dreamer):
    """Thinks until the test opens the gate."""

    name = "waiter"

    def __init__(self) -> None:
        self.gate = threading.Event()

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        self.gate.wait(timeout=60)
        return super().play(board, limits)


class Quiet(Agent):
    """No imagination, no value: what an agent may leave out."""

    name = "quiet"

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        return Decision(legal[0], {move: 1 / len(legal) for move in legal}, (legal[0],))


LISTED = (
    Opponent(
        "dreamer",
        "Dreamer",
        "Imagines by rote",
        (Level("2 steps", "dreamer", Limits(steps=2)), Level("8 steps", "dreamer", Limits(steps=8))),
    ),
    Opponent("quiet", "Quiet", "Says nothing", (Level("only level", "quiet"),)),
    Opponent("waiter", "Waiter", "Waits", (Level("only level", "waiter"),)),
    Opponent("absent", "Absent", "Cannot be built", (Level("only level", "absent"),)),
)


@pytest.fixture(scope="session")
def session_waiter() -> Waiter:
    return Waiter()


@pytest.fixture
def waiter(session_waiter: Waiter) -> Iterator[Waiter]:
    """The waiter with its gate closed; after the test nobody waits any longer."""
    session_waiter.gate.clear()
    yield session_waiter
    session_waiter.gate.set()


@pytest.fixture(scope="session")
def opponents(session_waiter: Waiter) -> Opponents:
    agents: dict[str, Agent] = {"dreamer": Dreamer(), "quiet": Quiet(), "waiter": session_waiter}

    def build(text: str) -> Agent:
        if text not in agents:
            raise UserError(f"There are no weights for {text!r}; train some.")
        return agents[text]

    return Opponents(LISTED, build)


class Running:
    """A server in a thread, on a free port of this machine."""

    def __init__(self, opponents: Opponents, page: Path | None) -> None:
        self.socket: socket.socket = listen(0)
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        app = create_app(Service(opponents), page)
        self.server = uvicorn.Server(config(app))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def __enter__(self) -> Running:
        self.thread.start()
        while not self.server.started and self.thread.is_alive():
            time.sleep(0.01)  # uvicorn has no event for this
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)


@pytest.fixture(scope="session")
def page_server(opponents: Opponents) -> Iterator[Running]:
    """The API and the built page; skipped where the page is not built."""
    from diffusearch.play.server import assets

    try:
        folder = assets()
    except UserError as error:
        pytest.skip(str(error))
    with Running(opponents, folder) as running:
        yield running


@pytest.fixture
def gated() -> GatedAgent:
    """An agent that thinks until its gate is opened."""
    return GatedAgent()


@pytest.fixture
def talk(gated: GatedAgent) -> Iterator[Talk]:
    """A UCI conversation with it; at the end the engine closes and no thread is left."""
    conversation = Talk(gated, Agent="mock")
    yield conversation
    gated.gate.set()
    assert conversation.engine.close()
    assert gated.closed or not conversation.built
