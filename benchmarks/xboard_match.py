"""Matches in xboard, a program that we did not write: is every move legal, is no game lost on time, does nothing crash?

    python benchmarks/xboard_match.py --agent diffusearch --games 200 --out /tmp/match

xboard runs without a window (xvfb-run), talks to UCI engines through polyglot, keeps the clocks and calls the flags.
Openings are short random lines from a seed, each played with both colours. Afterwards python-chess replays every game.
The exit code is 1 if our side lost a game by anything but chess. Debian: apt install xboard polyglot xvfb stockfish
toga2 glaurung gnuchess fairymax.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import chess
import chess.pgn

# name -> xboard's options for the second engine. Levels of Stockfish are set through polyglot's own command line.
OPPONENTS = {
    "toga2": ["-scp", "toga2", "-sUCI"],
    "glaurung": ["-scp", "glaurung", "-sUCI"],
    "gnuchess": ["-scp", "gnuchess --uci", "-sUCI"],
    "fairymax": ["-scp", "fairymax"],
    "stockfish": ["-scp", "stockfish", "-sUCI"],
    **{f"stockfish-{n}": ["-scp", f'polyglot -noini -ec stockfish -uci "Skill Level={n}"'] for n in range(21)},
}
DEFAULT = "stockfish-0,stockfish-3,stockfish-10,toga2,glaurung,gnuchess"
# Words of xboard's verdicts that are no chess: whoever is blamed, the game did not end on the board.
FAULTS = ("illegal", "time", "exited", "died", "abandoned", "abort", "hang", "forfeit", "unterminated", "error")

SCORE = re.compile(r"^[+-]?\d+\.\d+/\d+( [\d:.]+)? ?")  # the last move's own comment: score/depth and seconds


@dataclass
class Report:
    """One match, from our side."""

    opponent: str
    games: int = 0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    plies: int = 0
    ours: list[str] = field(default_factory=list)  # games that we lost, or broke off, by something else than chess
    theirs: list[str] = field(default_factory=list)  # the same of the opponent
    endings: dict[str, int] = field(default_factory=dict)


def openings(path: Path, count: int, seed: int) -> None:
    """Random lines of eight plies after which nobody is mated, as FEN, one a line."""
    lots = random.Random(seed)
    lines: list[str] = []
    while len(lines) < count:
        board = chess.Board()
        for _ in range(8):
            board.push(lots.choice(list(board.legal_moves)))
            if board.is_game_over():
                break
        else:
            lines.append(board.fen())
    path.write_text("\n".join(lines) + "\n")


def play(folder: Path, ours: str, opponent: str, games: int, base: float, increment: float, seed: int) -> Path:
    """One match in xboard; gives the PGN."""
    home = folder / "home"  # xboard would read and write the user's settings
    home.mkdir(parents=True, exist_ok=True)
    openings(folder / "openings.fen", (games + 1) // 2, seed)
    command = ["xvfb-run", "-a", "xboard", "-noGUI", "-xexit", "-soundProgram", "", "-matchPause", "100"]
    command += ["-fcp", ours, "-fUCI", *OPPONENTS[opponent], "-mg", str(games), "-autoCallFlag", "true"]
    command += ["-tc", f"{int(base) // 60}:{base % 60:02g}", "-inc", f"{increment:g}"]
    command += ["-lpf", "openings.fen", "-lpi", "-2", "-sgf", "games.pgn", "-debug", "-nameOfDebugFile", "xboard.debug"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/games"])
    with (folder / "xboard.log").open("w") as log:
        subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "HOME": str(home.resolve()), "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=60 + games * (300 + 4 * base + 400 * increment),
            check=False,  # a fault of one engine also ends xboard with an error; the games tell whose it was
        )
    return folder / "games.pgn"


def judge(pgn: Path, opponent: str, wanted: int) -> Report:
    """Replay all games; the last comment of each is xboard's verdict."""
    report = Report(opponent)
    endings: Counter[str] = Counter()
    with pgn.open() as file:
        while (game := chess.pgn.read_game(file)) is not None:
            report.games += 1
            name = f"game {report.games}"
            white = "DiffuSearch" in game.headers["White"]
            if game.errors:
                report.ours.append(f"{name}: {game.errors[0]}")
            ending = SCORE.sub("", " ".join(game.end().comment.split()))
            endings[ending] += 1
            report.plies += game.end().ply() - game.ply()
            result = game.headers["Result"]
            won, drawn = result == ("1-0" if white else "0-1"), result == "1/2-1/2"
            report.won, report.drawn = report.won + won, report.drawn + drawn
            report.lost += not (won or drawn)
            if result == "*" or any(word in ending.lower() for word in FAULTS):
                (report.theirs if won else report.ours).append(f"{name}: {ending or 'no verdict'}")
    if report.games != wanted:
        report.ours.append(f"{wanted} games were to be played, {report.games} were")
    report.endings = dict(endings.most_common())
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="diffusearch", help="the agent behind our engine")
    parser.add_argument("--command", help="our engine's whole command instead, e.g. to see that a bad one is caught")
    parser.add_argument("--opponents", default=DEFAULT, help=f"of {', '.join(OPPONENTS)}")
    parser.add_argument("--games", type=int, default=200, help="in all; shared out among the opponents")
    parser.add_argument("--base", type=float, default=1.0, help="seconds on each clock")
    parser.add_argument("--inc", type=float, default=0.05, help="seconds added for each move")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the games; a temporary one by default")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    missing = [
        name for name in ("xvfb-run", "xboard", "polyglot") if not shutil.which(name, path="/usr/bin:/usr/games")
    ]
    if missing:
        sys.exit(f"{' and '.join(missing)} not found: apt install xboard polyglot xvfb")
    names = given.opponents.split(",")
    ours = given.command or f"{sys.executable} -m diffusearch uci --agent {given.agent}"
    reports: list[Report] = []
    with tempfile.TemporaryDirectory() as temporary:
        for i, name in enumerate(names):
            games = given.games // len(names) + (i < given.games % len(names))
            folder = (given.out or Path(temporary)) / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "games.pgn").write_text("")  # xboard adds to it
            pgn = play(folder, ours, name, games, given.base, given.inc, given.seed + i)
            reports.append(report := judge(pgn, name, games))
            if not given.json:
                print(f"{name:14} +{report.won} ={report.drawn} -{report.lost}  faults: ours {len(report.ours)}, "
                      f"theirs {len(report.theirs)}  {report.endings}", flush=True)  # fmt: skip
    faults = [f"{report.opponent}, {fault}" for report in reports for fault in report.ours]
    if given.json:
        print(json.dumps({"command": sys.argv, "faults": faults, "matches": [asdict(r) for r in reports]}, indent=2))
    else:
        print("\n".join(faults) or f"{sum(r.games for r in reports)} games without a fault of ours")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
