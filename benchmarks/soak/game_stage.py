"""A thousand games between all agents; python-chess replays each and says whether it is legal and ended as told."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import chess
import chess.engine
import clock_match

from diffusearch.data.uci_process import find_engine
from diffusearch.evaluation.game_workers import Task, play
from diffusearch.evaluation.games import Fixture, GameRules, Played
from diffusearch.evaluation.openings import Opening, read_book
from soak.agents import texts
from soak.units import Outcome, Stage, Unit, resident, scaled

GAMES = 1_000
CLOCKED = 40  # of them with a clock
BASE, INCREMENT = 2.0, 0.02  # seconds
RULES = GameRules(max_plies=120)


def stage(scale: float, work: Path) -> Stage:
    """Pairings by round robin: so many of them that all together have the games of this scale."""
    agents, book = texts(work), tuple(read_book())
    pairs = list(combinations(agents, 2))
    clocked = scaled(CLOCKED, scale, 2)
    games = scaled(GAMES, scale, 4) - clocked
    shares = _shares(-(-games // 2), len(pairs))
    units = [
        Unit(f"{first} - {second}", partial(_match, first, second, n, 2 * openings, book, len(agents)))
        for n, ((first, second), openings) in enumerate(zip(pairs, shares, strict=True))
        if openings
    ]
    clock = [Unit(f"clock {n}", partial(_clocked, n, two, book)) for n, two in _twos(clocked)]
    listed = ", ".join(f"`{text.replace(str(work) + '/', '')}`" for text in agents)
    about = (
        f"everybody against everybody from the book's openings with both colours, {2 * min(shares)} to "
        f"{2 * max(shares)} games a pairing, drawn after {RULES.max_plies} plies; agents: {listed}. {clocked} more "
        f"games with a clock of {BASE:g} s + {INCREMENT:g} s: `diffusearch uci` against Stockfish at UCI_Elo 1350, "
        "spoken to by python-chess. Checked: every move is legal, no game goes on after its end, the end is what "
        "python-chess says, nobody loses on time"
    )
    return Stage("games", about, [*units, *clock])


def _shares(total: int, places: int) -> list[int]:
    """A total spread evenly over places."""
    return [(n + 1) * total // places - n * total // places for n in range(places)]


def _twos(count: int) -> list[tuple[int, int]]:
    """Numbers of units of up to two games."""
    return [(start, min(2, count - start)) for start in range(0, count, 2)]


def _match(one: str, two: str, number: int, games: int, book: tuple[Opening, ...], agents: int) -> Outcome:
    openings = [(number * games + n) % len(book) for n in range(games // 2)]
    fixtures = [game for n in openings for game in (Fixture(one, two, n), Fixture(two, one, n))]
    before = resident()
    played = play(Task(tuple(fixtures), book, RULES))
    outcome = Outcome({"games": len(played), "moves": sum(len(game.moves) - game.book_plies for game in played)})
    if [game.fixture for game in played] != fixtures:
        outcome.faults.append("other games than were asked for")
    outcome.faults += [f"{game.white} - {game.black}: {fault}" for game in played if (fault := judged(game, book))]
    if number >= agents:  # all agents have been built by then
        outcome.memory["this process"] = (before, resident())
    return outcome


def judged(game: Played, book: Sequence[Opening]) -> str | None:
    """What is wrong with a game, by python-chess alone; None if nothing is."""
    board = chess.Board()
    for number, uci in enumerate(game.moves):
        if number >= game.book_plies and (end := _ended(board)):
            return f"went on after {end}"
        move = chess.Move.from_uci(uci)
        if not board.is_legal(move):
            return f"illegal move {uci} in {board.fen()}"
        board.push(move)
    if game.moves[: game.book_plies] != tuple(book[game.opening]):
        return "another opening"
    end = _ended(board)
    if end is None and len(game.moves) - game.book_plies == RULES.max_plies:
        return None if game.result == "1/2-1/2" else f"{game.result} after the last ply"
    return None if end == (game.result, game.reason) else f"told {game.result} {game.reason}, python-chess says {end}"


def _ended(board: chess.Board) -> tuple[str, str] | None:
    end = board.outcome()
    if end is not None and end.termination in _NAMES:
        return end.result(), _NAMES[end.termination]
    if board.is_repetition(3):
        return "1/2-1/2", "threefold repetition"
    return ("1/2-1/2", "fifty moves") if board.halfmove_clock >= 100 else None


_NAMES = {
    chess.Termination.CHECKMATE: "checkmate",
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "insufficient material",
}


def _clocked(number: int, games: int, book: Sequence[Opening]) -> Outcome:
    outcome = Outcome()
    ours = chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "diffusearch", "uci"], timeout=120)
    other = chess.engine.SimpleEngine.popen_uci(find_engine(None), timeout=120)
    try:
        other.configure({"UCI_LimitStrength": True, "UCI_Elo": 1350})
        ours.ping()  # clocks start when the network is loaded, as in every GUI
        for n in range(number, number + games):
            white = n % 2 == 0
            game = clock_match.play({white: ours, not white: other}, book[n // 2], BASE, INCREMENT)
            outcome.add("games")
            outcome.add("games with a clock")
            lost = game.headers["Result"] == ("0-1" if white else "1-0")
            if game.headers["Termination"] in ("time", "no move") and lost:
                outcome.faults.append(f"game {n} lost: {game.headers['Termination']}")
    finally:
        ours.quit()
        other.quit()
    return outcome
