"""Elementary wins: how many of 100 won endings does an agent win against Stockfish?

    python benchmarks/endgame_wins.py --agent search [--agent 'diffusearch?steps=1'] [--each 4] [--seed 1] --out FOLDER

Positions are drawn at random from a seed, the stronger side to move; Stockfish (depth 18) keeps those that are won:
mate in sight, or 5 pawns ahead for pawn endings. The defender is `stockfish:nodes=1000`. Stalemate, repetition, fifty
moves and dead positions are draws. All games of an agent are played side by side. FOLDER keeps the positions and the
games: what is there is not made again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

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


def positions(each: int | None, seed: int) -> list[list[str]]:
    """Names and FENs of the set; `each` cuts every ending to so many."""
    lots, out = random.Random(seed), []
    with chess.engine.SimpleEngine.popen_uci(find_engine(None)) as engine:
        for name, (strong, weak, count) in ENDINGS.items():
            found: list[str] = []
            while len(found) < (count if each is None else min(each, count)):
                board = draw(strong, weak, lots)
                if board is not None and won(board, engine):
                    found.append(board.fen())
            out += [[name, fen] for fen in found]
    return out


def play(fens: list[str], text: str) -> list[dict[str, Any]]:
    """How each game ends for White, and its moves."""
    boards = [chess.Board(fen) for fen in fens]
    with build(text) as ours, build(DEFENDER) as defender:
        while going := [board for board in boards if board.outcome(claim_draw=True) is None]:
            mine = [board for board in going if board.turn == chess.WHITE]
            for board, decision in zip(mine, ours.play_many(mine), strict=True):
                board.push(decision.move)
            for board in going:
                if board.turn == chess.BLACK and board.outcome(claim_draw=True) is None:
                    board.push(defender.play(board).move)
    out = []
    for board in boards:
        end = board.outcome(claim_draw=True)
        assert end is not None
        ending = "won" if end.winner else "lost" if end.winner is False else end.termination.name.lower()
        out.append({"ending": ending, "moves": " ".join(move.uci() for move in board.move_stack)})
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", action="append", required=True)
    parser.add_argument("--each", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / f"positions-{options.seed}-{options.each or 'all'}.json"
    if not kept.exists():
        write_whole(kept, json.dumps(positions(options.each, options.seed), indent=0))
    todo = json.loads(kept.read_text())
    log = options.out / "games.json"
    games = json.loads(log.read_text()) if log.exists() else {}
    for text in options.agent:
        own = games.setdefault(text, {})
        missing = [fen for _, fen in todo if fen not in own]
        own |= dict(zip(missing, play(missing, text), strict=True))
        write_whole(log, json.dumps(games, indent=0))
        for ending in [*ENDINGS, ""]:
            found = [own[fen]["ending"] for name, fen in todo if not ending or name == ending]
            wins, (low, high) = found.count("won"), wilson(found.count("won"), len(found))
            rest = ", ".join(f"{reason} {count}" for reason, count in Counter(found).items() if reason != "won")
            print(
                f"{text}  {ending or 'all':6} {wins:3} of {len(found):3}  [{100 * low:.0f}, {100 * high:.0f}] %  {rest}"
            )


if __name__ == "__main__":
    main()
