"""For the tests of the UCI engine: an agent that waits at a gate, and a conversation that waits for answers."""

from __future__ import annotations

import threading

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.inference.imagination import Imagination
from diffusearch.play.uci import UciProtocol
from diffusearch.play.uci_engine import ThinkingEngine
from diffusearch.play.uci_options import UciOptions

WAIT = 60.0  # seconds until a test gives up; nothing here takes that long unless it is broken


class GatedAgent(Agent):
    """Denoises in no time, or when the gate is opened. Expects the mirror of its own move.

    A first look gives the first move in the alphabet, a full decision the last one.
    """

    name = "gated"

    def __init__(self, gate_looks: bool = False) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.gate_looks = gate_looks  # whether first looks wait, too
        self.thinking = threading.Event()  # set while a decision waits at the gate
        self.asked: list[Limits] = []
        self.boards: list[chess.Board] = []
        self.games = 0
        self.closed = False

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        self.asked.append(limits)
        self.boards.append(board)
        if limits.steps != 1 or self.gate_looks:
            self.thinking.set()
            assert self.gate.wait(WAIT)
        moves = sorted(limits.moves or board.legal_moves, key=chess.Move.uci)
        best = moves[0] if limits.steps == 1 else moves[-1]
        reply = chess.Move(best.from_square ^ 56, best.to_square ^ 56)
        shares = dict.fromkeys(board.legal_moves, 1 / board.legal_moves.count())
        steps = min(limits.steps or 20, 20)
        imagined = Imagination(board.fen(), best.uci(), {}, (), steps=steps)
        return Decision(best, shares, (best, reply), self.value(board), steps, 0.0, imagined)

    def value(self, board: chess.Board) -> float:
        """Of the side to move: 0.5, and after 1. e4 and 1. d4 what Black has there."""
        played = [move.uci() for move in board.move_stack]
        return {"e2e4": 0.4, "d2d4": 0.3}.get(played[0], 0.5) if len(played) == 1 else 0.5

    def new_game(self) -> None:
        self.games += 1

    def close(self) -> None:
        self.closed = True


class Talk:
    """A conversation with the engine, line by line."""

    def __init__(self, agent: Agent, **options: str | int | bool) -> None:
        self.lines: list[str] = []
        self.changed = threading.Condition()
        self.built: list[str] = []
        self.agent = agent
        self.engine = ThinkingEngine(self.hear, self.build, UciOptions(**options))
        self.protocol = UciProtocol(self.engine)

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

    def ready(self) -> None:
        """Wait until the engine is idle and ready."""
        count = len(self.starting("readyok"))
        self.send("isready")
        self.until("readyok", count + 1)
