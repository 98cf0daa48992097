"""Policies for the future of a state: the moves after the oracle's action (the paper's section 3.2 and Table 3).

relabel       a full search at every future state, for both sides: the paper's oracle path
pv            the principal variation of the engine, extended by cheaper searches where it is short
random        the oracle's action, then random legal moves: a random policy under the rules
random-world  the oracle's action, then unrelated states, each with a random legal move
played        the moves of the source (engine games, puzzles), without a search
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.data.oracle import Answer, Oracle
from diffusearch.data.root_positions import RootPosition, over
from diffusearch.data.scores import Score


@dataclass
class Future:
    """The line of a root position."""

    line: list[chess.Move] = field(default_factory=list)
    values: list[Score] = field(default_factory=list)  # of s_0, s_1, ...; only of states that were searched
    states: list[str] = field(default_factory=list)  # FEN of s_1, s_2, ...; only where the moves do not lead there
    ended: bool = False  # the game is over after the line


Ask = Callable[[chess.Board], Answer]  # the root's search


def relabel(board: chess.Board, horizon: int, ask: Ask, oracle: Oracle) -> tuple[Answer, Future]:
    """A search with the full budget at each state of the future."""
    root = ask(board)
    future = Future([root.best], [root.score])
    board.push(root.best)
    while len(future.line) < horizon and not over(board):
        answer = oracle.ask(board, oracle.settings.budget)
        future.line.append(answer.best)
        future.values.append(answer.score)
        board.push(answer.best)
    future.ended = over(board)
    return root, future


def principal_variation(board: chess.Board, horizon: int, ask: Ask, oracle: Oracle) -> tuple[Answer, Future]:
    """The principal variation. Its score, with the sign changed at each ply, is the value of its states."""
    root = ask(board)
    future = Future()
    answer = root
    while True:
        score = answer.score
        for move in answer.line:
            future.line.append(move)
            future.values.append(score)
            score = score.after_best_move()
            board.push(move)
            if len(future.line) == horizon or over(board):
                future.ended = over(board)
                return root, future
        answer = oracle.ask(board, oracle.settings.extend, horizon - len(future.line))


def random_policy(board: chess.Board, horizon: int, ask: Ask, generator: random.Random) -> tuple[Answer, Future]:
    """Random legal moves after the oracle's action."""
    root = ask(board)
    future = Future([root.best], [root.score])
    board.push(root.best)
    while len(future.line) < horizon and not over(board):
        move = generator.choice(list(board.legal_moves))
        future.line.append(move)
        board.push(move)
    future.ended = over(board)
    return root, future


def random_world(
    board: chess.Board, horizon: int, ask: Ask, generator: random.Random, others: Sequence[str]
) -> tuple[Answer, Future]:
    """Unrelated states after the oracle's action, drawn from `others` (FENs)."""
    root = ask(board)
    future = Future([root.best], [root.score])
    own = board.fen()
    choices = [fen for fen in others if fen != own] or [chess.STARTING_FEN]
    for _ in range(horizon - 1):
        fen = generator.choice(choices)
        future.states.append(fen)
        future.line.append(generator.choice(list(chess.Board(fen).legal_moves)))
    return root, future


def played(position: RootPosition) -> Future:
    """The moves of the source."""
    return Future([chess.Move.from_uci(text) for text in position.continuation], ended=position.ended)
