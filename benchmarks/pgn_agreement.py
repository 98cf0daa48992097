"""Do our PGN reader and python-chess agree on every game? A slow check, outside CI.

    python benchmarks/pgn_agreement.py FILE... [--games N]

Reads each file twice at the same time, once by `chess.pgn.read_game` and once by ours, and compares headers and moves.
"""

from __future__ import annotations

import argparse
import sys
from itertools import zip_longest

import chess.pgn

from diffusearch.data import pgn
from diffusearch.data.streams import open_text


def compare(path: str, limit: int | None) -> tuple[int, int]:
    """Games compared, and how many differ."""
    games = differences = 0
    with open_text(path) as ours, open_text(path) as theirs:
        for raw, game in zip_longest(pgn.split(ours), iter(lambda: chess.pgn.read_game(theirs), None)):
            if games == limit:
                break
            games += 1
            if games % 10_000 == 0:
                print(f"{path}: {games} games, {differences} differ", flush=True)
            if raw is None or game is None:
                differences += 1
                continue
            try:
                moves = list(pgn.main_line(raw).moves)
            except pgn.Broken as broken:
                moves = []
                print(f"{path} game {games - 1}: {broken}")
            same_headers = raw.headers().items() <= dict(game.headers).items()
            differences += not (same_headers and moves == list(game.mainline_moves()))
    return games, differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--games", type=int, help="of each file")
    arguments = parser.parse_args()
    total = 0
    for path in arguments.files:
        games, differences = compare(path, arguments.games)
        total += differences
        print(f"{path}: {games} games compared, {differences} differ", flush=True)
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
