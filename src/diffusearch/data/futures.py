"""The future of a state, by policy: what follows the oracle's first action (the paper's section 3.2 and Table 3).

relabel       a full search at every future state, for both sides: the paper's oracle path
pv            the engine's own principal variation, lengthened by cheaper searches where it is short
random        the oracle's action, then legal random moves: a true world under a random policy
random-world  the oracle's action, then unrelated states, each with a legal random move of its own
played        the source's own continuation (engine games, puzzles); nothing is searched
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.data.oracle import Answer, Oracle
from diffusearch.data.positions import Position, over
from diffusearch.data.scores import Score


@dataclass
class Future:
    """A line from a root, as far as its policy reaches."""

    line: list[chess.Move] = field(default_factory=list)
    values: list[Score] = field(default_factory=list)  # of root, s_1, ...; fewer than moves where nobody judged
    states: list[str] = field(default_factory=list)  # FEN of s_1, s_2, ...; only where the moves do not lead there
    ended: bool = False  # the line stops because the game is over


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


def principal(board: chess.Board, horizon: int, ask: Ask, oracle: Oracle) -> tuple[Answer, Future]:
    """The engine's line. Inside it a state's value is the line's, turned at each ply."""
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


def randomly(board: chess.Board, horizon: int, ask: Ask, rng: random.Random) -> tuple[Answer, Future]:
    """Random legal moves after the oracle's action."""
    root = ask(board)
    future = Future([root.best], [root.score])
    board.push(root.best)
    while len(future.line) < horizon and not over(board):
        move = rng.choice(list(board.legal_moves))
        future.line.append(move)
        board.push(move)
    future.ended = over(board)
    return root, future


def random_world(
    board: chess.Board, horizon: int, ask: Ask, rng: random.Random, others: Sequence[str]
) -> tuple[Answer, Future]:
    """Unrelated states after the oracle's action, drawn from `others` (FENs)."""
    root = ask(board)
    future = Future([root.best], [root.score])
    own = board.fen()
    choices = [fen for fen in others if fen != own] or [chess.STARTING_FEN]
    for _ in range(horizon - 1):
        fen = rng.choice(choices)
        future.states.append(fen)
        future.line.append(rng.choice(list(chess.Board(fen).legal_moves)))
    return root, future


def played(position: Position) -> Future:
    """The source's own moves."""
    return Future([chess.Move.from_uci(text) for text in position.continuation], ended=position.ended)
