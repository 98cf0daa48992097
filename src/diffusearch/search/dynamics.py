"""The dynamics: the state after a move, made by the rules of chess or predicted by the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import chess

from diffusearch.inference.evaluation import Evaluation, PredictedState
from diffusearch.search.outcome import Outcome, outcome, outcome_after


@dataclass(frozen=True)
class Successor:
    """The state after a move."""

    board: chess.Board | None  # None: the network predicted no valid position
    outcome: Outcome | None = None  # how the game ended there, for the side to move; None while it goes on
    predicted: PredictedState | None = None  # what the network predicted; None where the rules made the state


class Dynamics(Protocol):
    """s, a -> s'."""

    predicts: bool  # whether a network makes the states: a step is then a network call, and each state an evaluation

    def step(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[Successor]:
        """The state after one move of each board. Cached evaluations avoid recomputing the root."""
        ...


class Predictor(Protocol):
    """A network that predicts the state after a move (a run)."""

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]: ...


class Rules:
    """States by the rules. Boards keep their history, so repetition and the fifty-move rule are seen in the tree."""

    predicts = False

    def step(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[Successor]:
        out: list[Successor] = []
        for board, move in zip(boards, moves, strict=True):
            following = board.copy()
            following.push(move)
            out.append(Successor(following, outcome(following)))
        return out


class Imagined:
    """States as the network predicts them.

    The rules say which moves are legal in a state, and that a state without moves is mate or stalemate. They never say
    what a move does to the board.
    """

    predicts = True

    def __init__(self, network: Predictor) -> None:
        self.network = network

    def step(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[Successor]:
        return [_successor(state) for state in self.network.predict(boards, evaluations, moves)]


def _successor(state: PredictedState) -> Successor:
    board = state.board
    if board is None or any(board.legal_moves):
        return Successor(board, None, state)
    return Successor(board, Outcome.MATED if board.is_check() else Outcome.DRAWN, state)


def successors(
    dynamics: Dynamics,
    boards: Sequence[chess.Board],
    evaluations: Sequence[Evaluation | None],
    moves: Sequence[chess.Move],
    *,
    at_root: bool,
) -> list[Successor]:
    """The states after moves. At the root the rules say which moves end the game, whatever is predicted.

    Only there are the boards true: their history shows repetition and fifty moves, and predicted states have none.
    """
    found = dynamics.step(boards, evaluations, moves)
    if not (at_root and dynamics.predicts):  # dynamics by the rules have seen the ends already
        return found
    return [_by_the_rules(*one) for one in zip(boards, moves, found, strict=True)]


def _by_the_rules(board: chess.Board, move: chess.Move, predicted: Successor) -> Successor:
    """The true end of the game where the move ends it, else what was predicted."""
    result = outcome_after(board, move)
    if result is None:
        return predicted
    end = board.copy(stack=False)
    end.push(move)
    return Successor(end, result, predicted.predicted)
