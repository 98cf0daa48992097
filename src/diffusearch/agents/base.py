"""One small interface for every player: policy, diffusion, search, Stockfish, random.

Tournament, puzzles, UCI, page and bot know agents only through this file. A board always carries its move
stack, so an agent can see repetitions. Every value is the win probability of the side to move, in [0, 1].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import chess

from diffusearch.inference.imagination import Imagination


@dataclass(frozen=True)
class Limits:
    """How much an agent may spend on one decision. None means the agent's own default."""

    steps: int | None = None  # network calls: denoising steps (diffusion), levels of a tree (minimax)
    nodes: int | None = None  # engine nodes (Stockfish), simulations (MCTS) or evaluations (minimax)
    depth: int | None = None  # plies
    seconds: float | None = None  # wall time
    line: bool = True  # whether the line after the move is wanted; an agent may save what only serves the line
    moves: tuple[chess.Move, ...] = ()  # only these root moves may be played; empty = all legal ones
    resume: bool = False  # go on with the last decision of the same position, where `Agent.further` says so


@dataclass(frozen=True)
class Candidate:
    """A root move that was looked into. Values are win probabilities of the side to move at the root."""

    move: chess.Move
    prior: float  # the network's probability of the move before it looked ahead
    value: float | None = None  # after the move, by one evaluation
    score: float | None = None  # the same, after looking ahead
    line: tuple[chess.Move, ...] = ()  # the line that the score comes from; the first is the move
    probability: float | None = None  # after looking ahead; None where a search gives none


@dataclass(frozen=True)
class LookAhead:
    """What an agent found after its root moves, best candidate first."""

    candidates: tuple[Candidate, ...] = ()
    by: Literal["search", "drafts"] = "search"  # a tree that was searched, or drafts that the network read


@dataclass(frozen=True)
class Decision:
    """What an agent decided in one position."""

    move: chess.Move
    probabilities: dict[chess.Move, float]  # over the legal moves, sums to 1
    line: tuple[chess.Move, ...] = ()  # the imagined or principal line; the first is the move
    value: float | None = None  # win probability of the side to move, in [0, 1]
    nodes: int = 0  # network evaluations or engine nodes spent
    seconds: float = 0.0
    imagination: Imagination | None = field(default=None, repr=False)
    look_ahead: LookAhead | None = field(default=None, repr=False)  # where a tree was searched or drafts were read


class Agent(ABC):
    """A player. `play` decides one position; `play_many` decides a batch of unrelated ones."""

    name: str = "agent"

    @abstractmethod
    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        """The decision in a position that has at least one legal move; the board is left as it was."""

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        """Decisions for unrelated positions; overridden where a batch is cheaper than a loop."""
        return [self.play(board, limits) for board in boards]

    def play_in_games(
        self, boards: Sequence[chess.Board], games: Sequence[int], limits: Limits = Limits()
    ) -> list[Decision]:
        """The next moves of several games that are played side by side.

        `games` numbers them: an agent may keep a search tree for each until `new_game`. By default nothing is kept.
        """
        return self.play_many(boards, limits)

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        """The best `lines` decisions, best first; by default only the one that would be played."""
        return [self.play(board, limits)]

    @property
    def provenance(self) -> dict[str, Any]:
        """What the agent is made of, for results: recipe and weights' sha256 of each run by its role; {} if none."""
        return {}

    @property
    def horizon(self) -> int:
        """Plies that the agent looks ahead at most; 1 for one look at the position."""
        return 1

    @property
    def own_steps(self) -> int | None:
        """Network calls, at most, where nothing limits them; None where only a decision can tell."""
        return None

    def work(self, steps: int) -> int:
        """Evaluations of one position, at most, that a decision with `steps` network calls takes."""
        return steps

    def further(self, limits: Limits) -> int:
        """Evaluations, at most, that `limits.resume` takes after the last decision; 0 where the agent cannot go on."""
        return 0

    def new_game(self) -> None:  # noqa: B027 (most agents keep nothing)
        """Forget what is kept between moves (search trees, an engine's hash)."""

    def close(self) -> None:  # noqa: B027 (most agents hold nothing)
        """Give back processes and files."""

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
