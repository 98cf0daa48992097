"""What every planner takes and gives: a budget in, a plan out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.inference.evaluation import Allowed
from diffusearch.inference.imagination import Ply


@dataclass(frozen=True)
class Budget:
    """How much one decision may cost. None means the planner's own setting."""

    calls: int | None = None  # network calls, each with a batch of positions
    evaluations: int | None = None  # positions that the network evaluates or predicts (MCTS: simulations)
    depth: int | None = None  # plies
    seconds: float | None = None  # wall time
    line: bool = True  # whether the variation after the move is wanted (a rollout computes nothing else)
    resume: bool = False  # in a game: go on with the last plan of the same position (see `further`)


@dataclass(frozen=True)
class Variation:
    """The moves that both sides are expected to play after a first move."""

    moves: tuple[chess.Move, ...]  # the first is the move itself
    make_plies: Callable[[], tuple[Ply, ...]] | None = field(default=None, compare=False, repr=False)  # None: by rules
    log_probability: float = 0.0  # of the moves and predicted states

    @property
    def plies(self) -> tuple[Ply, ...] | None:
        """The moves with the predicted states, made when asked: of most variations only the moves are."""
        return None if self.make_plies is None else self.make_plies()


@dataclass(frozen=True)
class RootMove:
    """One root move and what the search made of it."""

    move: chess.Move
    prior: float  # probability by one evaluation
    share: float  # probability after the search
    value: float | None = None  # mover's win probability after the move by one evaluation; None: not evaluated
    score: float | None = None  # the same, after the search; None where the move was not searched


@dataclass(frozen=True)
class Plan:
    """What a search found in one position."""

    moves: tuple[RootMove, ...]  # all moves that may be played, best first; probabilities sum to 1
    calls: int  # network calls (with others of the same batch)
    evaluations: int  # of one position or predicted state each
    variation: Callable[[chess.Move], Variation]  # what is expected after a move; read from the tree when asked
    value: float | None = None  # mover's win probability at the root by one evaluation
    legal_mass: float | None = None  # of the root: see Evaluation
    raw_legal: bool | None = None

    @property
    def policy(self) -> dict[chess.Move, float]:
        """The probabilities of the moves, best first."""
        return {one.move: one.share for one in self.moves}

    def root_move(self, move: chess.Move) -> RootMove:
        """What the search made of a move."""
        return next(one for one in self.moves if one.move == move)


class Planner(ABC):
    """Looks ahead from positions with an evaluator and dynamics."""

    @property
    @abstractmethod
    def horizon(self) -> int:
        """Plies that it looks ahead at most."""

    @abstractmethod
    def plan(self, boards: Sequence[chess.Board], legal: Allowed | None, budget: Budget) -> list[Plan]:
        """One plan a board, all in common batches; `legal` narrows the root moves.

        Every board must have a legal move.
        """

    def plan_in_game(self, board: chess.Board, legal: Allowed | None, budget: Budget) -> Plan:
        """The plan for the next position of a game: a planner may use what it found in the positions before."""
        return self.plan([board], legal, budget)[0]

    def plan_in_games(
        self, boards: Sequence[chess.Board], games: Sequence[int], legal: Allowed | None, budget: Budget
    ) -> list[Plan]:
        """Plans for the next positions of several games, in common batches.

        `games` numbers them: a planner may keep a tree for each. By default it keeps none.
        """
        return self.plan(boards, legal, budget)

    def work(self, calls: int) -> int:
        """How many evaluations a decision with `calls` network calls needs."""
        return calls

    def further(self, depth: int | None) -> int:
        """Evaluations, at most, of a plan that goes on with the last one of the game; 0: this planner or tree cannot.

        `depth` is the number of plies that the budget allows.
        """
        return 0

    def new_game(self) -> None:  # noqa: B027 (most planners keep nothing)
        """Forget the games."""
