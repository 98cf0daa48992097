"""The rating scale: matches between the page's opponents and Stockfish's UCI_Elo levels, rated together.

    python benchmarks/elo_scale.py --games 24 --out runs/elo [--processes 2] [--write]

LADDER has the players in order of strength, by a short match before. Each plays the next REACH of them, never two
Stockfish levels. The agents take their own budget (`search`: up to 89 evaluations a move), Stockfish 10,000 nodes
(depth 7 to 8; a lowered UCI_Elo chooses its move at depth 1 for 1350, 8 for 2100). BayesElo ratings, shifted so that
the Stockfish levels have their UCI_Elo on average. What OUT has is not played again, and all its games count, also
those beyond --games: it can be stopped and go on.
--write puts the scale into the package (src/diffusearch/play/ratings.json), which UCI_Elo and the page read.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess.engine

from diffusearch.data.uci_process import find_engine
from diffusearch.evaluation import crosstable
from diffusearch.evaluation.gamelog import GameLog
from diffusearch.evaluation.games import GameRules
from diffusearch.evaluation.openings import read_book
from diffusearch.evaluation.record import commit
from diffusearch.evaluation.session import progress_bar, recipes_of
from diffusearch.evaluation.tournament import figures, play_tournament, schedule
from diffusearch.files import write_whole
from diffusearch.play.rating_scale import FILE
from diffusearch.weights import VERSION

REACH = 2  # how many places up the ladder a player looks for opponents
LADDER = (
    "random", "search?strength=10", "search?strength=20", "s-a?strength=20", "greedy-material", "s-a?strength=40",
    "search?strength=40", "s-a?strength=60", "s-a?strength=80", "search?strength=60", "s-a", "diffusearch?steps=1",
    "stockfish:elo=1350", "mcts?simulations=10", "diffusearch", "stockfish:elo=1500", "search?strength=80",
    "stockfish:elo=1700", "search?strength=90", "stockfish:elo=1900", "search", "stockfish:elo=2100",
)  # fmt: skip
LEVELS = {text: float(text.partition("elo=")[2]) for text in LADDER if "elo=" in text}


def pairs(ladder: Sequence[str], reach: int) -> list[tuple[str, str]]:
    """Each player with the next ones, except two Stockfish levels; the strongest first."""
    found = [(one, other) for at, one in enumerate(ladder) for other in ladder[at + 1 : at + 1 + reach]]
    return [(one, other) for one, other in reversed(found) if not {one, other} <= set(LEVELS)]


def scale(numbers: dict[str, Any], games: int) -> dict[str, Any]:
    """The file of the package: what was measured, how, and the ratings."""
    engine = chess.engine.SimpleEngine.popen_uci(find_engine(None))
    name = engine.id["name"]
    engine.quit()
    rows = {
        row["agent"]: {
            "elo": round(row["elo"]),
            "low": round(row["interval"][0]),
            "high": round(row["interval"][1]),
            "games": row["games"],
        }
        for row in numbers["ratings"]
    }
    return {
        "about": f"BayesElo ratings; {', '.join(LEVELS)} have their UCI_Elo on average",
        "command": f"python benchmarks/elo_scale.py --games {games} --write",
        "conditions": f"{name} at 10,000 nodes a move; the agents with their own budgets; {numbers['n']} games",
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "weights": VERSION,
        "ratings": [{"agent": name, **row} for name, row in sorted(rows.items(), key=lambda item: -item[1]["elo"])],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=24, help="for each pairing, an even number")
    parser.add_argument("--out", type=Path, default=Path("runs/elo"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the scale into the package")
    given = parser.parse_args()
    book, rules = read_book(), GameRules()
    fixtures = schedule(pairs(LADDER, REACH), given.games, len(book))
    recipes = recipes_of(LADDER)
    with progress_bar("games", len(fixtures)) as progress:
        played = play_tournament(
            fixtures, book, rules, given.out, processes=given.processes, recipes=recipes, progress=progress
        )
    asked = {game.fixture for game in played}
    more = [game for game in GameLog(given.out / "games.jsonl").read() if game.fixture not in asked]
    played += [game for game in more if {game.white, game.black} <= set(LADDER)]
    _, numbers = figures(played, LADDER, rules, anchors=LEVELS)
    result = scale(numbers, given.games)
    write_whole(given.out / "crosstable.md", crosstable.markdown(numbers))
    write_whole(given.out / "ratings.json", json.dumps(result, indent=1) + "\n")
    if given.write:
        write_whole(FILE, json.dumps(result, indent=1) + "\n")
    for row in result["ratings"]:
        print(f"{row['agent']:28} {row['elo']:5}  [{row['low']:5}, {row['high']:5}]  {row['games']:4} games")
    order = [row["agent"] for row in result["ratings"]][::-1]
    if swapped := [pair for pair in pairwise(order) if LADDER.index(pair[0]) > LADDER.index(pair[1])]:
        print("In another order than LADDER:", "; ".join(f"{low} < {high}" for low, high in swapped))


if __name__ == "__main__":
    main()
