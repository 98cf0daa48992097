"""Elementary wins: how many of 100 won endings does an agent win against Stockfish?

    python benchmarks/endgame_wins.py --agent search [--agent 'diffusearch?steps=1'] [--each 4] [--out wins.json]

Positions are drawn at random from a seed, the stronger side to move; Stockfish (depth 18) keeps those that are won:
mate in sight, or 5 pawns ahead for pawn endings. The defender is `stockfish:nodes=1000`. Stalemate, repetition, fifty
moves and dead positions are draws. Called again with the same --out, finished games are not played again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import chess
import chess.engine

from diffusearch.agents.build import agent as build
from diffusearch.data.uci_process import find_engine
from diffusearch.evaluation.intervals import wilson
from diffusearch.files import write_whole

# Endings as the strong side's pieces, the weak side's pieces, and how many of 100 positions.
ENDINGS = {
    "KQK": ("KQ", "k", 15), "KRK": ("KR", "k", 15), "KBBK": ("KBB", "k", 10), "KPK": ("KP", "k", 15),
    "KQKR": ("KQ", "kr", 10), "KRRK": ("KRR", "k", 15), "pawns": ("KPPP", "kp", 20),
}  # fmt: skip
DEFENDER = "stockfish:nodes=1000"
MATE = chess.engine.Limit(depth=18)


def draw(strong: str, weak: str, lots: random.Random) -> chess.Board | None:
    """A random position with these pieces, White (the stronger) to move; None if it is none."""
    board = chess.Board(None)
    for letter in strong + weak:
        piece = chess.Piece.from_symbol(letter)
        squares = [s for s in chess.SQUARES if board.piece_at(s) is None]
        if piece.piece_type == chess.PAWN:
            squares = [s for s in squares if 1 <= chess.square_rank(s) <= 6]
        board.set_piece_at(lots.choice(squares), piece)
    bishops = board.pieces(chess.BISHOP, chess.WHITE)
    if len(bishops) == 2 and len({(chess.square_rank(s) + chess.square_file(s)) % 2 for s in bishops}) == 1:
        return None
    return board if board.is_valid() and not board.is_game_over() else None


def won(board: chess.Board, engine: chess.engine.SimpleEngine) -> bool:
    score = engine.analyse(board, MATE)["score"].white()
    return (score.score(mate_score=100_000) or 0) >= 500


def positions(each: int | None, seed: int) -> list[tuple[str, str]]:
    """Names and FENs of the set; `each` cuts every ending to so many."""
    lots, out = random.Random(seed), []
    with chess.engine.SimpleEngine.popen_uci(find_engine(None)) as engine:
        for name, (strong, weak, count) in ENDINGS.items():
            found: list[str] = []
            while len(found) < (count if each is None else min(each, count)):
                board = draw(strong, weak, lots)
                if board is not None and won(board, engine):
                    found.append(board.fen())
            out += [(name, fen) for fen in found]
    return out


def play(fen: str, text: str) -> tuple[str, int]:
    """How a game ends for White, and after how many plies."""
    board = chess.Board(fen)
    with build(text) as ours, build(DEFENDER) as defender:
        while (end := board.outcome(claim_draw=True)) is None:
            board.push((ours if board.turn else defender).play(board).move)
    return ("won" if end.winner else end.termination.name.lower()), board.ply()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", action="append", required=True)
    parser.add_argument("--each", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    games = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    todo = positions(options.each, options.seed)
    for text in options.agent:
        for name, fen in todo:
            key = f"{text} | {name} | {fen}"
            if key not in games:
                games[key], _ = play(fen, text)
                if options.out:
                    write_whole(options.out, json.dumps(games, indent=0).encode())
        for ending in [*ENDINGS, ""]:
            own = [games[f"{text} | {n} | {fen}"] for n, fen in todo if not ending or n == ending]
            wins, (low, high) = own.count("won"), wilson(own.count("won"), len(own))
            rest = ", ".join(f"{reason} {count}" for reason, count in Counter(own).items() if reason != "won")
            print(
                f"{text}  {ending or 'all':6} {wins:3} of {len(own):3}  [{100 * low:.0f}, {100 * high:.0f}] %  {rest}"
            )


if __name__ == "__main__":
    main()
