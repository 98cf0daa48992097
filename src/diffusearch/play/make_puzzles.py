"""Makes the page's puzzles: Stockfish plays weak games against itself and the only winning moves are kept.

    python -m diffusearch.play.make_puzzles --count 80 --most 24 --seed 1 --out src/diffusearch/play/puzzles.json

gives the packaged file byte for byte (with Stockfish 15.1; another version plays other games). No outside games or
puzzles are used. A position is kept if, at the verifying effort, the best move wins and the second best does not, for
every move of the solver; the line goes on while the win stays unique. The rating is an estimate: it grows with the
depth at which Stockfish settles on the first move. Of the easiest only some are kept.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import chess
import chess.engine

from diffusearch.errors import UserError
from diffusearch.files import write_whole

WINS = 300  # centipawns (mover's view) from which the best move counts as winning
HOLDS = 80  # centipawns up to which the second best counts as not winning
MATE = 100_000
DEEPEST = 20  # for what the engine finds only when it looks at two moves at once
QUICK = 2000  # nodes for the first look at a position
LONGEST = 3  # solver's moves


@dataclass(frozen=True)
class Judged:
    """A position's two best moves, scores in centipawns of the side to move."""

    best: chess.Move
    score: int
    second: int


@dataclass(frozen=True)
class MadePuzzle:
    """One line of the file."""

    fen: str
    solution: str
    rating: int


class PuzzleMaker:
    """One engine, one source of randomness."""

    def __init__(self, engine: chess.engine.SimpleEngine, generator: random.Random, nodes: int) -> None:
        self._engine = engine
        self._generator = generator
        self._nodes = nodes

    def judge(self, board: chess.Board, nodes: int) -> Judged | None:
        """None where there is no choice."""
        infos = self._engine.analyse(board, chess.engine.Limit(nodes=nodes), multipv=2, game=object())
        if len(infos) < 2:
            return None
        scores = [info["score"].pov(board.turn).score(mate_score=MATE) for info in infos]
        return Judged(best=infos[0]["pv"][0], score=scores[0], second=scores[1])

    def weak_game(self) -> Iterator[chess.Board]:
        """Positions of a game with a random opening and moves after few nodes: full of mistakes."""
        board = chess.Board()
        for _ in range(self._generator.randint(4, 8)):
            if board.is_game_over():
                return
            board.push(self._generator.choice(list(board.legal_moves)))
        while not board.is_game_over(claim_draw=True) and board.ply() < 120:
            yield board
            limit = chess.engine.Limit(nodes=self._generator.choice((5, 20, 80)))
            move = self._engine.play(board, limit).move
            if move is None:
                return
            board.push(move)

    def solution(self, board: chess.Board) -> list[chess.Move]:
        """The line of only winning moves from here; empty if even the first is not one."""
        board = board.copy(stack=False)
        line: list[chess.Move] = []
        while (len(line) + 1) // 2 < LONGEST or not line:
            judged = self.judge(board, self._nodes)
            if judged is None or judged.score < WINS or judged.second > HOLDS:
                break
            line.append(judged.best)
            board.push(judged.best)
            if board.is_game_over():
                break
            reply = self._engine.play(board, chess.engine.Limit(nodes=self._nodes), game=object()).move
            if reply is None:
                break
            line.append(reply)
            board.push(reply)
        return line if len(line) % 2 else line[:-1]  # the opponent's last answer proves nothing

    def settled(self, board: chess.Board, best: chess.Move) -> int:
        """The depth from which on the engine's first choice is `best`, up to the verifying effort."""
        since = 0
        with self._engine.analysis(board, chess.engine.Limit(nodes=self._nodes), game=object()) as analysis:
            for info in analysis:
                depth, line = info.get("depth"), info.get("pv")
                if depth is None or not line or info.get("lowerbound") or info.get("upperbound"):
                    continue  # bounds are shown after some seconds only: a slow machine would give other ratings
                if line[0] != best:
                    since = 0
                elif not since:
                    since = depth
        return since

    def entry(self, board: chess.Board, line: Sequence[chess.Move]) -> MadePuzzle:
        depth = self.settled(board.copy(stack=False), line[0])
        solution = " ".join(move.uci() for move in line)
        return MadePuzzle(board.fen(), solution, rating_of(depth or DEEPEST, (len(line) + 1) // 2))


def rating_of(depth: int, length: int) -> int:
    """600 for what is seen at once, 75 more for each ply of depth, 100 for each further move to find."""
    return 600 + 75 * (depth - 1) + 100 * (length - 1)


def obvious(board: chess.Board, move: chess.Move) -> bool:
    """Taking back on the square of the last capture, or taking a queen for nothing, is no puzzle."""
    last = board.peek() if board.move_stack else None
    victim = board.piece_type_at(move.to_square)
    return victim is not None and ((last is not None and last.to_square == move.to_square) or victim == chess.QUEEN)


def make(count: int, seed: int, nodes: int, stockfish: str) -> list[MadePuzzle]:
    """`count` puzzles, easiest first, no position twice, at most two from one game."""
    out: dict[str, MadePuzzle] = {}
    try:
        engine = chess.engine.SimpleEngine.popen_uci(stockfish)
    except FileNotFoundError as error:
        raise UserError(f"There is no engine {stockfish!r}; install Stockfish or name it with --stockfish.") from error
    with engine:
        engine.configure({"Threads": 1, "Hash": 16})
        maker = PuzzleMaker(engine, random.Random(seed), nodes)
        while len(out) < count:
            taken = 0
            for board in maker.weak_game():
                quick = maker.judge(board, QUICK)
                if quick is None or quick.score < WINS or quick.second > HOLDS or obvious(board, quick.best):
                    continue
                line = maker.solution(board)
                if not line or obvious(board, line[0]):
                    continue
                out[board.epd()] = maker.entry(board, line)
                taken += 1
                print(f"{len(out)} of {count}", flush=True)
                if taken == 2 or len(out) >= count:
                    break
    return sorted(out.values(), key=lambda entry: (entry.rating, entry.fen))


def thinned(entries: Sequence[MadePuzzle], most: int) -> list[MadePuzzle]:
    """At most `most` puzzles of one rating: weak games give many that are seen at once and few that are not."""
    seen: Counter[int] = Counter()
    kept = []
    for entry in entries:
        seen[entry.rating] += 1
        if seen[entry.rating] <= most:
            kept.append(entry)
    return kept


def written(entries: Sequence[MadePuzzle], seed: int, nodes: int) -> str:
    """The file's text, one puzzle a line."""
    note = f"made by diffusearch.play.make_puzzles, seed {seed}, {nodes} nodes"
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in entries)
    return '{"source": ' + json.dumps(note) + ', "puzzles": [\n' + lines + "\n]}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=300_000, help="the verifying effort for each solver's move")
    parser.add_argument("--most", type=int, default=24, help="how many of one rating are kept")
    parser.add_argument("--stockfish", default="stockfish")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = thinned(make(arguments.count, arguments.seed, arguments.nodes, arguments.stockfish), arguments.most)
    write_whole(arguments.out, written(found, arguments.seed, arguments.nodes))


if __name__ == "__main__":
    main()
