"""Games without a download: an engine plays against itself at low strength.

The opening moves are random. Later moves are drawn among the best few, with a probability that grows with the score.
The engine searches a fixed number of nodes and all draws are seeded, so the same seed gives the same games.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import closing

import chess
import chess.pgn

from diffusearch.data.uci_process import EngineFault, EngineProcess, SearchBudget
from diffusearch.errors import UserError

OPENING_PLIES = 6
CHOICES = 4  # moves to draw from
SPREAD = 60.0  # centipawns: a move that is worse by this much is e times less likely
LONGEST = 200  # plies; a longer game is a draw


def play_games(engine: str, games: int, nodes: int, seed: int) -> Iterator[chess.pgn.Game]:
    """Games of an engine against itself."""
    try:
        with closing(EngineProcess(engine, {"Threads": 1, "Hash": 1}, timeout=60.0)) as player:
            for number in range(games):
                yield _game(player, number, nodes, seed)
    except EngineFault as fault:
        raise UserError(f"the engine {engine} failed ({fault}); give another with --engine") from fault


def _game(player: EngineProcess, number: int, nodes: int, seed: int) -> chess.pgn.Game:
    generator = random.Random(f"{seed} {number}")
    board = chess.Board()
    while not board.is_game_over(claim_draw=True) and board.ply() < LONGEST:
        board.push(_random(board, generator) if board.ply() < OPENING_PLIES else _weak(board, player, nodes, generator))
    game = chess.pgn.Game.from_board(board)
    game.headers["Event"] = f"Self-play, seed {seed}"
    game.headers["Round"] = str(number + 1)
    game.headers["White"] = game.headers["Black"] = f"{player.name}, {nodes} nodes"
    result = board.result(claim_draw=True)
    game.headers["Result"] = "1/2-1/2" if result == "*" else result
    return game


def _random(board: chess.Board, generator: random.Random) -> chess.Move:
    return generator.choice(list(board.legal_moves))


def _weak(board: chess.Board, player: EngineProcess, nodes: int, generator: random.Random) -> chess.Move:
    analysis = player.search(board.fen(), SearchBudget(nodes=nodes), min(CHOICES, board.legal_moves.count()))
    if not analysis.variations:
        raise EngineFault("no score")
    scores = [max(-2000, min(2000, variation.score.order())) for variation in analysis.variations]
    weights = [math.exp((score - max(scores)) / SPREAD) for score in scores]
    chosen = generator.choices(analysis.variations, weights)[0]
    try:
        return board.parse_uci(chosen.moves[0])
    except ValueError:
        raise EngineFault(f"illegal move {chosen.moves[0]}") from None
