"""Games between two agents, several at once, under rules that are the same for all.

Drawn without a claim: stalemate, dead position, threefold repetition, fifty moves. Drawn by length: `max_plies` moves
after the opening. An illegal move loses. With a referee (an agent that knows values) a game is won as soon as it has
judged one side at `sure` or more after `patience` plies in a row; without one every game is played out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import chess
import chess.pgn

from diffusearch.agents.base import Agent
from diffusearch.ending import ending
from diffusearch.errors import UserError
from diffusearch.evaluation.openings import Opening


@dataclass(frozen=True)
class GameRules:
    """What ends a game besides mate."""

    max_plies: int = 300  # after the opening; then the game is drawn
    referee: str | None = None  # text of an agent whose values decide won games
    sure: float = 0.99  # win probability (about 1,250 centipawns) that the referee must see ...
    patience: int = 6  # ... after so many plies in a row


@dataclass(frozen=True)
class Fixture:
    """A game to be played."""

    white: str  # agents' texts
    black: str
    opening: int  # its number in the book


@dataclass(frozen=True)
class Played:
    """A finished game."""

    white: str
    black: str
    opening: int
    book_plies: int
    moves: tuple[str, ...]  # UCI, from the starting position, the opening included
    result: str  # 1-0, 0-1, 1/2-1/2
    reason: str

    @property
    def fixture(self) -> Fixture:
        """Which game of the schedule this is."""
        return Fixture(self.white, self.black, self.opening)

    @property
    def points(self) -> float:
        """White's."""
        return {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}[self.result]

    def to_json(self) -> dict[str, Any]:
        """One line of the log."""
        return {**asdict(self), "moves": " ".join(self.moves)}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Played:
        """Read a line of the log back."""
        return cls(**{**row, "moves": tuple(row["moves"].split())})

    def pgn(self) -> str:
        """The game as PGN, the reason of its end as a comment."""
        game = chess.pgn.Game()
        game.headers.update(
            {"Event": "diffusearch tournament", "White": self.white, "Black": self.black, "Result": self.result}
        )
        game.headers["Round"] = str(self.opening + 1)
        game.headers["BookPlies"] = str(self.book_plies)
        node: chess.pgn.GameNode = game
        for move in self.moves:
            node = node.add_variation(chess.Move.from_uci(move))
        node.comment = self.reason
        return str(game)


class _Game:
    """A game in progress."""

    def __init__(self, number: int, fixture: Fixture, opening: Opening) -> None:
        self.number, self.fixture = number, fixture
        self.board = chess.Board()
        for move in opening:
            self.board.push_uci(move)
        self.book_plies = len(opening)
        self.ended: tuple[str, str] | None = None  # result, reason
        self.sure_for: list[chess.Color | None] = []  # whom the referee saw winning after each ply

    @property
    def mover(self) -> str:
        return self.fixture.white if self.board.turn else self.fixture.black

    def play(self, move: chess.Move) -> None:
        if not self.board.is_legal(move):
            loser = self.board.turn
            self.ended = ("0-1" if loser else "1-0", f"illegal move {move.uci()}")
            return
        self.board.push(move)
        self.ended = _over(self.board)

    def judge(self, value: float, rules: GameRules) -> None:
        """Take the referee's view (win probability of the side to move) into account."""
        turn = self.board.turn
        winner = turn if value >= rules.sure else (not turn) if value <= 1 - rules.sure else None
        self.sure_for.append(winner)
        last = self.sure_for[-rules.patience :]
        if winner is not None and len(last) == rules.patience and all(one == winner for one in last):
            self.ended = ("1-0" if winner else "0-1", "adjudicated by the referee")

    def finished(self) -> Played:
        assert self.ended is not None
        moves = tuple(move.uci() for move in self.board.move_stack)
        fixture = self.fixture
        return Played(fixture.white, fixture.black, fixture.opening, self.book_plies, moves, *self.ended)


def _over(board: chess.Board) -> tuple[str, str] | None:
    """Result and reason if the rules end the game here (repetition and fifty moves need no claim)."""
    found = ending(board)
    return None if found is None else (found.score(board.turn), found.value)


def play_games(
    fixtures: Sequence[Fixture],
    book: Sequence[Opening],
    agents: dict[str, Agent],
    rules: GameRules,
    referee: Agent | None = None,
) -> list[Played]:
    """Play fixtures side by side: each round, every agent decides all games in which it is to move as one batch.

    A search keeps a tree for each game. A single fixture is played by `play`, so that an engine keeps its hash too.
    """
    for agent in agents.values():
        agent.new_game()
    games = [_Game(number, fixture, book[fixture.opening]) for number, fixture in enumerate(fixtures)]
    live = games
    while live:
        movers = {game.mover for game in live}  # fixed before anybody moves
        turns = {name: [game for game in live if game.mover == name] for name in movers}
        for name, waiting in turns.items():
            boards = [game.board for game in waiting]
            if len(games) == 1:
                decisions = [agents[name].play(boards[0])]
            else:
                decisions = agents[name].play_in_games(boards, [game.number for game in waiting])
            for game, decision in zip(waiting, decisions, strict=True):
                game.play(decision.move)
        live = [game for game in live if game.ended is None]
        if referee is not None and live:
            _ask_referee(referee, live, rules)
            live = [game for game in live if game.ended is None]
        for game in live:
            if len(game.board.move_stack) - game.book_plies >= rules.max_plies:
                game.ended = ("1/2-1/2", f"{rules.max_plies} plies")
        live = [game for game in live if game.ended is None]
    return [game.finished() for game in games]


def _ask_referee(referee: Agent, live: Sequence[_Game], rules: GameRules) -> None:
    for game, decision in zip(live, referee.play_many([game.board for game in live]), strict=True):
        if decision.value is None:
            raise UserError(f"The referee {referee.name!r} knows no values: choose one that does, such as stockfish.")
        game.judge(decision.value, rules)
