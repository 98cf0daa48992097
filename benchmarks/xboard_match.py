"""Matches in xboard, a program that we did not write: is every move legal, is no game lost on time, does nothing crash?

    python benchmarks/xboard_match.py --agent diffusearch --games 200 --out /tmp/match

xboard runs without a window (xvfb-run), talks to UCI engines through polyglot, keeps the clocks and calls the flags.
Openings are short random lines from a seed, each played with both colours. Nobody ponders unless --ponder says so:
the one whose clock runs has the machine. Afterwards python-chess replays every game. A match in which no game ends for
minutes is ended (xboard spins when the engine behind polyglot dies between two games), and whoever owes xboard
an answer is to blame. Where --out holds all games of an opponent, from the same question, they are not played again.
Progress goes to stderr. The exit code is 1 if our side lost a game by anything but chess. Debian: apt install xboard
polyglot xvfb stockfish toga2 glaurung gnuchess fairymax.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
    **{
        f"stockfish-elo-{elo}": [
            "-scp",
            f'polyglot -noini -ec stockfish -uci "UCI_LimitStrength=true" -uci "UCI_Elo={elo}"',
        ]
        for elo in range(1350, 2851, 50)
    },
}
DEFAULT = "stockfish-0,stockfish-3,stockfish-10,toga2,glaurung,gnuchess"
# Words of xboard's verdicts that are no chess: whoever is blamed, the game did not end on the board.
FAULTS = ("illegal", "time", "exited", "died", "abandoned", "abort", "hang", "forfeit", "unterminated", "error")

LINE = re.compile(r"^\d+ ([<>])(first|second) ?: (.*)")  # of xboard's log: milliseconds, direction, engine, words
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


@dataclass(frozen=True)
class Match:
    """What is asked of xboard."""

    command: str  # our engine
    opponent: str
    games: int
    base: float  # seconds on each clock
    increment: float  # seconds for each move
    ponder: bool
    seed: int  # of the openings

    @property
    def patience(self) -> float:
        """Seconds in which some game surely ends: both clocks for 400 moves, and minutes to start on a busy machine."""
        return 180 + 2 * (self.base + 400 * self.increment)

    def words(self) -> list[str]:
        """xboard's command line."""
        words = ["xvfb-run", "-a", "xboard", "-noGUI", "-xexit", "-soundProgram", "", "-matchPause", "100"]
        words += ["-fcp", self.command, "-fUCI", *OPPONENTS[self.opponent], "-mg", str(self.games)]
        words += ["-tc", f"{int(self.base) // 60}:{self.base % 60:02g}", "-inc", f"{self.increment:g}"]
        words += ["-autoCallFlag", "true", "-ponderNextMove", str(self.ponder).lower()]
        words += ["-lpf", "openings.fen", "-lpi", "-2", "-sgf", "games.pgn"]
        return [*words, "-debug", "-nameOfDebugFile", "xboard.debug"]


def finished(folder: Path) -> int:
    """Games that xboard has written down."""
    pgn = folder / "games.pgn"
    return len(re.findall(r"^\[Result ", pgn.read_text(), re.MULTILINE)) if pgn.is_file() else 0


def play(folder: Path, match: Match) -> bool:
    """One match in xboard; False if it hung and was ended."""
    home = folder / "home"  # xboard would read and write the user's settings
    home.mkdir(parents=True, exist_ok=True)
    (folder / "games.pgn").write_text("")  # xboard adds to it
    openings(folder / "openings.fen", (match.games + 1) // 2, match.seed)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/games"])
    with (folder / "xboard.log").open("w") as log:
        process = subprocess.Popen(
            match.words(),
            cwd=folder,
            env={**os.environ, "HOME": str(home.resolve()), "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that all of it can be ended, and nothing else
        )
    try:
        return _watched(process, folder, match)
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):  # whatever is left of it, also after Ctrl-C
            try:
                os.killpg(process.pid, sign)
                process.wait(5)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue


def _watched(process: subprocess.Popen[bytes], folder: Path, match: Match) -> bool:
    """Tell of each game that ends; False when none did for too long. A fault of an engine also ends xboard."""
    seen, since = 0, time.monotonic()
    while True:
        try:
            process.wait(1)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        if (count := finished(folder)) > seen:
            seen, since = count, time.monotonic()
            print(f"{match.opponent}: game {seen} of {match.games}", file=sys.stderr, flush=True)
        if ended:
            return True
        if time.monotonic() - since > match.patience:
            print(f"{match.opponent}: no game ended for {match.patience:.0f} s", file=sys.stderr, flush=True)
            return False


def silent(debug: Path) -> set[str]:
    """Who owes xboard an answer at the end of its log: `first` (we), `second`, both or nobody.

    A death that polyglot has told, a ping without a pong, a move that does not come.
    """
    owed: dict[str, str] = {}
    for line in debug.read_text(errors="replace").splitlines():
        # A move is sent in two pieces, which end up in one line: `123 >first : usermove 124 >first : e2e4`.
        found = LINE.match(line)
        if found is None:
            continue
        arrow, who, said = found.groups()
        word, _, rest = said.partition(" ")
        if arrow == "<" and "POLYGLOT" in said and "terminated" in said:
            owed[who] = "life"
        elif owed.get(who) == "life":
            continue
        elif arrow == ">" and word in ("ping", "go", "usermove"):
            owed[who] = "pong " + rest if word == "ping" else "move"
        elif arrow == "<":
            if who in owed and said.startswith(owed[who]):
                del owed[who]
        elif word == "force" and owed.get(who) == "move":  # the game is over
            del owed[who]
    return set(owed)


def judge(folder: Path, opponent: str, wanted: int) -> Report:
    """Replay all games; the last comment of each is xboard's verdict."""
    report = Report(opponent)
    endings: Counter[str] = Counter()
    with (folder / "games.pgn").open() as file:
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
    if report.games != wanted:  # theirs only if it was surely not we who broke it off
        theirs = silent(folder / "xboard.debug") == {"second"}
        (report.theirs if theirs else report.ours).append(f"{wanted} games were to be played, {report.games} were")
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
    parser.add_argument("--ponder", action="store_true", help="both sides think on the other's time too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the games, kept; a temporary one by default")
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
            match = Match(ours, name, games, given.base, given.inc, given.ponder, given.seed + i)
            folder = (given.out or Path(temporary)) / name
            folder.mkdir(parents=True, exist_ok=True)
            asked = folder / "match.json"
            if finished(folder) == games and asked.is_file() and json.loads(asked.read_text()) == asdict(match):
                print(f"{name}: {games} games are there already", file=sys.stderr, flush=True)
            else:
                asked.write_text(json.dumps(asdict(match)))
                play(folder, match)
            reports.append(report := judge(folder, name, games))
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
