"""A match with real clocks between our UCI engine and Stockfish at a UCI_Elo: how many points at 10 s + 0.1 s?

    python benchmarks/clock_match.py --games 20 --base 10 --inc 0.1 [--out FOLDER] [--agent diffusearch] [--elo 1350]

python-chess speaks to both. Openings come from the tournaments' book, each with both colours; nobody ponders, so the
one whose clock runs has the machine. Wall time counts, with everything between the two programs. (xboard_match.py
speaks to UCI engines through polyglot, which does not pass on increments of less than a second.) Each game is appended
to OUT/games.pgn when it is over: called again, the same command goes on with what is missing. Prints wins, draws,
losses and the score with a 95 % interval; the exit code is 1 if our side lost a game by anything but chess.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from diffusearch.data.uci_process import find_engine
from diffusearch.evaluation.openings import Opening, read_book

OURS = "DiffuSearch"


def play(
    players: dict[chess.Color, chess.engine.SimpleEngine], opening: Opening, base: float, inc: float
) -> chess.pgn.Game:
    """One game; a player whose time is up has lost, whatever stands on the board."""
    board, left = chess.Board(), {chess.WHITE: base, chess.BLACK: base}
    for uci in opening:
        board.push_uci(uci)
    result, reason = "", ""
    while not result:
        limit = chess.engine.Limit(
            white_clock=left[chess.WHITE], black_clock=left[chess.BLACK], white_inc=inc, black_inc=inc
        )
        mover, began = board.turn, time.monotonic()
        move = players[mover].play(board, limit, game=opening).move
        left[mover] -= time.monotonic() - began
        if left[mover] < 0 or move is None:
            result, reason = ("0-1" if mover else "1-0"), "time" if move else "no move"
            break
        left[mover] += inc
        board.push(move)
        if (end := board.outcome(claim_draw=True)) is not None:
            result, reason = end.result(), end.termination.name.lower()
    game = chess.pgn.Game.from_board(board)
    game.headers.update({"Result": result, "Termination": reason, "TimeControl": f"{base:g}+{inc:g}"})
    return game


def finished(path: Path) -> list[chess.pgn.Headers]:
    """The games of an earlier call."""
    out: list[chess.pgn.Headers] = []
    if path.exists():
        with path.open() as file:
            while (headers := chess.pgn.read_headers(file)) is not None:
                out.append(headers)
    return out


def points(headers: chess.pgn.Headers) -> float:
    """Ours."""
    white = {"1-0": 1.0, "0-1": 0.0}.get(headers["Result"], 0.5)
    return white if headers["White"] == OURS else 1.0 - white


def summary(games: list[chess.pgn.Headers]) -> dict[str, object]:
    own = [points(game) for game in games]
    mean = sum(own) / len(own)
    spread = math.sqrt(sum((point - mean) ** 2 for point in own) / len(own) / max(1, len(own) - 1))
    faults = [g["Termination"] for g in games if points(g) == 0.0 and g["Termination"] in ("time", "no move")]
    return {
        "games": len(own), "won": own.count(1.0), "drawn": own.count(0.5), "lost": own.count(0.0), "score": mean,
        "interval": [max(0.0, mean - 1.96 * spread), min(1.0, mean + 1.96 * spread)], "faults": len(faults),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--agent", default="diffusearch")
    parser.add_argument("--elo", type=int, default=1350, help="Stockfish's UCI_Elo")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--base", type=float, default=10.0, help="seconds")
    parser.add_argument("--inc", type=float, default=0.1, help="seconds for each move")
    parser.add_argument("--out", type=Path, default=Path("runs/clock_match"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    asked = {name: getattr(given, name) for name in ("agent", "elo", "base", "inc")}
    match = given.out / "match.json"
    if match.is_file() and json.loads(match.read_text()) != asked:
        parser.error(f"{given.out} holds another match ({match.read_text()}): give another --out")
    match.write_text(json.dumps(asked))
    file, book = given.out / "games.pgn", read_book()
    ours = chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "diffusearch", "uci", "--agent", given.agent])
    other = chess.engine.SimpleEngine.popen_uci(find_engine(None))
    other.configure({"UCI_LimitStrength": True, "UCI_Elo": given.elo, "Move Overhead": 50})  # ms, as ours
    try:
        for number in range(len(finished(file)), given.games):
            white = number % 2 == 0  # ours
            players = {white: ours, not white: other}
            game = play(players, book[number // 2], given.base, given.inc)
            names = {white: OURS, not white: f"Stockfish {given.elo}"}
            game.headers.update({"Round": str(number + 1), "White": names[True], "Black": names[False]})
            with file.open("a") as out:
                print(game, end="\n\n", file=out)
            print(f"game {number + 1}: {game.headers['Result']}, {game.headers['Termination']}", file=sys.stderr)
    finally:
        ours.quit()
        other.quit()
    told = summary(finished(file))
    print(json.dumps(told))
    sys.exit(1 if told["faults"] else 0)


if __name__ == "__main__":
    main()
