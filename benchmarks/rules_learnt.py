"""What has a network learnt of the rules? The state after castling, en passant and promotions, and the value of a mate.

    python benchmarks/rules_learnt.py --games tests/fixtures/games.pgn [--run diffusearch] [--limit 300] [--json]

All castling moves, captures en passant and promotions that are legal in the positions of the games, each position
once, and of the other legal moves one drawn from each position, at most --limit of a kind. A predicted state is right
if all its squares, the side to move, rights, en passant square and clocks are those of the rules. Then the value, the
win probability of the side to move: in positions where it is mated, and beside them in others where it is in check.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn

from diffusearch.agents.runs import run as open_run
from diffusearch.evaluation.intervals import Share
from diffusearch.inference.run import Run

KINDS = ("castling", "en passant", "promotion", "other")
Case = tuple[chess.Board, chess.Move]


def kind_of(board: chess.Board, move: chess.Move) -> str:
    """One of KINDS."""
    if board.is_castling(move):
        return "castling"
    if board.is_en_passant(move):
        return "en passant"
    return "promotion" if move.promotion else "other"


def positions(path: Path) -> Iterator[chess.Board]:
    """Every position of the games once."""
    seen = set()
    with path.open(encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            for node in game.mainline():
                board = node.parent.board()
                if board.epd() not in seen:
                    seen.add(board.epd())
                    yield board


def cases(path: Path, limit: int, seed: int = 0) -> dict[str, list[Case]]:
    """By kind of move, at most `limit` of each, drawn by the seed."""
    generator = random.Random(seed)
    found: dict[str, list[Case]] = {kind: [] for kind in KINDS}
    for board in positions(path):
        by_kind: dict[str, list[chess.Move]] = {kind: [] for kind in KINDS}
        for move in board.legal_moves:
            by_kind[kind_of(board, move)].append(move)
        for kind, moves in by_kind.items():
            found[kind] += [
                (board, move) for move in (moves if kind != "other" else generator.sample(moves, min(1, len(moves))))
            ]
    return {kind: generator.sample(all_of, min(limit, len(all_of))) for kind, all_of in found.items()}


def right(run: Run, chosen: list[Case]) -> Share:
    """How many of the predicted states are those of the rules."""
    if not chosen:
        return Share(0, 0)
    boards, moves = [board for board, _ in chosen], [move for _, move in chosen]
    hits = 0
    for board, move, predicted in zip(boards, moves, run.predict(boards, run.evaluate(boards), moves), strict=True):
        after = board.copy(stack=False)
        after.push(move)
        hits += predicted.board is not None and predicted.board.fen() == after.fen()
    return Share(hits, len(chosen))


def values_in_check(run: Run, path: Path, limit: int) -> dict[str, list[float]]:
    """Values of positions one legal move after those of the games: of mates, and of checks that are none."""
    found: dict[str, list[chess.Board]] = {"mated": [], "in check": []}
    for board in positions(path):
        for move in filter(board.gives_check, board.legal_moves):
            after = board.copy(stack=False)
            after.push(move)
            found["mated" if after.is_checkmate() else "in check"].append(after)
    generator = random.Random(0)
    chosen = {name: generator.sample(boards, min(limit, len(boards))) for name, boards in found.items()}
    return {
        name: [one.value for one in run.evaluate(boards, priors=False) if one.value is not None]
        for name, boards in chosen.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True)
    parser.add_argument("--run", default="diffusearch", help="a run folder, or a packaged network")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    run = open_run(given.run, "diffusearch")
    shares = {kind: right(run, chosen) for kind, chosen in cases(given.games, given.limit).items()}
    values = values_in_check(run, given.games, given.limit)
    if given.json:
        print(json.dumps({kind: share.to_json() for kind, share in shares.items()} | {"values": values}, indent=1))
        return
    for kind, share in shares.items():
        low, high = (100 * end for end in share.interval)
        figure = (
            f"{100 * share.accuracy:5.1f} % [{low:.1f}, {high:.1f}] of {share.n}" if share.n else "none in these games"
        )
        print(f"{kind:<12}{figure}")
    for name, own in values.items():
        lost = 100 * statistics.fmean(value < 0.1 for value in own)
        print(f"{name:<12}value {statistics.fmean(own):.2f} on average, below 0.1 in {lost:.0f} % of {len(own)}")


if __name__ == "__main__":
    main()
