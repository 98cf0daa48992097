"""What the browser's engine takes from Python: the list of its agents with their settings, and golden vectors.

python tools/browser_engine.py            # web/src/engine/settings.json and web/tests/endings.json, after a change of
                                          # agents, search, decoding or the rules for won endings
python tools/browser_engine.py --golden   # web/tests/golden.json.gz too, after new weights: some minutes

The golden vectors are 500 positions of games that the packaged network plays against itself, with random moves in
between: tokens, legal moves, the move of one look, of the search and after drafts, the state predicted after a move,
and for some of them whole denoised records. `npm test` in web/ compares the TypeScript engine with them. They hold the
settings of search and drafts that they were made with, so that other defaults do not make them wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chess

from diffusearch.agents.base import Agent, Limits
from diffusearch.agents.build import agent
from diffusearch.agents.drawing_moves import root_moves
from diffusearch.agents.spec import DEFAULT_AGENT, AgentSpec
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.run import Run
from diffusearch.play.opponents import PACKAGED, Level
from diffusearch.search.minimax.backup import BACKUPS
from diffusearch.search.minimax.planner import Minimax
from diffusearch.tokens.states import board_row
from diffusearch.weights import packaged

WEB = Path(__file__).parents[1] / "web"
SETTINGS = WEB / "src" / "engine" / "settings.json"
GOLDEN = WEB / "tests" / "golden.json.gz"
ENDINGS = WEB / "tests" / "endings.json"

OFFERED = (DEFAULT_AGENT, "diffusearch", "denoising", "greedy-material", "random")  # one network serves them all
POSITIONS, GAMES, LONGEST = 500, 40, 160
RECORDS = 40  # positions with a whole denoised record
RANDOM_MOVES = 0.2  # share of moves that no network chose
WON = ("KQk", "KRk", "KBBk", "KPk", "KQPk", "KQkr", "KRRk", "KPPkp")  # men of the side to move, then the other's
EACH = 12  # positions of each


def level(one: Level) -> dict[str, Any]:
    options = AgentSpec.parse(one.text).options
    rating = None if one.rating is None else asdict(one.rating)
    return {
        "label": one.label,
        "rating": rating,
        "strength": int(options.get("strength", 100)),
        "steps": one.limits.steps,
        "order": options.get("order"),
    }


def settings(searcher: Agent, run: Run) -> dict[str, Any]:
    """Everything that the TypeScript engine does not decide itself."""
    planner = getattr(searcher, "planner", None)
    assert isinstance(planner, Minimax), "the default agent searches by minimax"
    decoding = run.recipe.decoding
    return {
        "agents": [
            {
                "id": one.id,
                "name": one.name,
                "about": one.about,
                "default": one.levels.index(one.level(None)),
                "levels": [level(each) for each in one.levels],
            }
            for one in PACKAGED
            if one.id in OFFERED
        ],
        "search": {
            "widths": list(planner.widths),
            "valueWeight": planner.value_weight,
            "backup": next(name for name, backup in BACKUPS.items() if backup is planner.backup),
        },
        "imagining": {
            "horizon": run.horizon,
            "decoding": {
                "order": decoding.order,
                "steps": decoding.steps,
                "timesteps": run.recipe.process.timesteps,
                "carry": decoding.carry,
                "drafts": decoding.drafts,
                "depth": decoding.depth,
                "rounds": decoding.rounds,
            },
        },
    }


def written(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=2) + "\n"


def games(run: Run, lots: random.Random) -> list[chess.Board]:
    """Games of the network against itself: moves drawn from its priors, and some at random."""
    out: list[chess.Board] = []
    for _ in range(GAMES):
        board = chess.Board()
        while len(board.move_stack) < LONGEST and not board.is_game_over(claim_draw=True):
            legal = list(board.legal_moves)
            if lots.random() < RANDOM_MOVES:
                board.push(lots.choice(legal))
                continue
            priors = run.evaluate([board])[0].priors
            board.push(lots.choices(list(priors), list(priors.values()))[0])
        out.append(board)
    return out


def row_text(tokens: Any) -> str:
    """Tokens of a state as hexadecimal digits, two each."""
    return bytes(int(token) for token in tokens).hex()


def golden(searcher: Agent, drafter: Agent, run: Run, lots: random.Random) -> dict[str, Any]:
    played = games(run, lots)
    plies = [(number, ply) for number, game in enumerate(played) for ply in range(len(game.move_stack))]
    chosen = sorted(lots.sample(plies, POSITIONS))
    recorded = set(lots.sample(range(POSITIONS), RECORDS))
    positions = []
    for count, (number, ply) in enumerate(chosen):
        board = played[number].root()
        for move in played[number].move_stack[:ply]:
            board.push(move)
        positions.append(vector(searcher, drafter, run, board, number, lots, whole=count in recorded))
        print(f"\r{count + 1} of {POSITIONS} positions", end="", flush=True)
    print()
    written_games = [" ".join(move.uci() for move in game.move_stack) for game in played]
    made_with = {name: settings(searcher, run)[name] for name in ("search", "imagining")}
    return made_with | {"games": written_games, "positions": positions}


class Ahead:
    """An evaluator for which the side to move is always ahead."""

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        return [Evaluation({}, 0.9) for _ in boards]


def endings() -> str:
    """Random won endings with the root moves that are left of them, for either side; a text of JSON."""
    lots, found = random.Random(0), []
    for men in WON:
        for number in range(EACH):
            board = ending(men, lots)
            if number % 2:
                board = board.mirror()
            (moves,) = root_moves([board], Limits(), Ahead())
            found.append({"fen": board.fen(), "moves": " ".join(sorted(move.uci() for move in moves))})
    return written({"positions": found})


def ending(men: str, lots: random.Random) -> chess.Board:
    """A random valid position of these men with White to move and not over."""
    while True:
        board = chess.Board(None)
        for man, square in zip(men, lots.sample(chess.SQUARES, len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        if board.is_valid() and not board.is_game_over():
            return board


def vector(
    searcher: Agent, drafter: Agent, run: Run, board: chess.Board, game: int, lots: random.Random, *, whole: bool
) -> Any:
    """What Python says of one position."""
    searcher.new_game()
    look, found = searcher.play(board, Limits(steps=1)), searcher.play(board)
    drafted = drafter.play(board)
    assert drafted.imagination is not None
    calls = drafted.imagination.steps
    tried = lots.choice(list(board.legal_moves))
    evaluation = run.evaluate([board])[0]
    (state,) = run.predict([board], [evaluation], [tried])
    out: dict[str, Any] = {
        "game": game,
        "ply": len(board.move_stack),
        "fen": board.fen(),
        "row": row_text(board_row(board, board.turn)),
        "legal": board.legal_moves.count(),
        "san": board.san(tried),
        "look": [look.move.uci(), round(look.value or 0.0, 4)],
        "search": [found.move.uci(), round(found.value or 0.0, 4), found.nodes],
        "line": " ".join(move.uci() for move in found.line),
        "drafts": [drafted.move.uci(), round(drafted.value or 0.0, 4), calls, drafted.nodes],
        "tried": [tried.uci(), None if state.board is None else row_text(board_row(state.board, board.turn))],
    }
    if whole:
        out["records"] = {order: record(run, board, order) for order in ("plies", "confidence")}
    return out


def record(run: Run, board: chess.Board, order: Any) -> Any:
    """A denoised future: moves, boards, and how many squares each step of its film has fixed."""
    (found,) = JointDenoiser(run).imagine([board], Decoding(order=order), film=True)
    return {
        "moves": [ply.move for ply in found.line],
        "squares": [ply.squares for ply in found.line],
        "fixed": [sum(64 - squares.count("?") for squares in frame.squares) for frame in found.film],
        "steps": found.steps,
        "mass": round(found.legal_mass or 0.0, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", action="store_true", help="write the golden vectors too")
    arguments = parser.parse_args()
    run, searcher = Run.load(packaged("diffusearch")), agent(DEFAULT_AGENT)
    SETTINGS.write_text(written(settings(searcher, run)), encoding="utf-8")
    ENDINGS.write_text(endings(), encoding="utf-8")
    if arguments.golden:
        text = json.dumps(golden(searcher, agent("diffusearch"), run, random.Random(17)), separators=(",", ":"))
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
