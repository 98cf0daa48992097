"""Whose replies should a draft hold? The network's own against those of an engine, and positions of both dynamics.

    python benchmarks/draft_lines.py --data LABELS [--run RUN] [--limit 600] [--nodes 1000]

The first moves are the same in all rows, and so is the draft reader. A row of the engine follows each of them with the
engine's best move at every ply, so that the draft is what the oracle would play. All rows judge the same positions;
differences are paired, with McNemar's exact test, against the first row.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import chess

from diffusearch.agents.build import agent as build
from diffusearch.drafts.revising import BATCH, Effort, Reviser
from diffusearch.evaluation.compare import paired
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.inference.run import Run
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.search.evaluator import Evaluator
from diffusearch.weights import packaged


class EngineReplies:
    """An evaluator whose likeliest move is an engine's; the engine's move and the likeliest change their priors."""

    def __init__(self, evaluator: Evaluator, engine: str) -> None:
        self.evaluator, self.engine = evaluator, build(engine)

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        found = self.evaluator.evaluate(boards, legal, priors=priors)
        if not priors:
            return found
        best = [decision.move for decision in self.engine.play_many(boards)]
        return [replace(one, priors=_led_by(one.priors, move)) for one, move in zip(found, best, strict=True)]


def _led_by(priors: dict[chess.Move, float], move: chess.Move) -> dict[chess.Move, float]:
    likeliest = max(priors, key=priors.__getitem__)
    return priors | {likeliest: priors[move], move: priors[likeliest]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--run", type=Path, default=packaged("diffusearch"))
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--nodes", type=int, default=1000)
    options = parser.parse_args()
    run, positions = Run.load(options.run), read_positions(options.data, options.limit)
    boards = [position.board() for position in positions]
    evaluations = run.evaluate(boards)
    oracle = EngineReplies(run, f"stockfish:nodes={options.nodes}")
    decoding = run.recipe.decoding
    rows = {
        "own replies, imagined positions": (run, Imagined(run)),
        "own replies, positions by the rules": (run, Rules()),
        f"replies of Stockfish with {options.nodes} nodes, by the rules": (oracle, Rules()),
    }
    first: list[bool] = []
    for text, (evaluator, dynamics) in rows.items():
        reviser = Reviser(run, dynamics)
        reviser.drafter.evaluator = evaluator
        for rounds in (0, decoding.rounds):
            effort = Effort(decoding.drafts, decoding.depth, rounds)
            right: list[bool] = []
            for start in range(0, len(boards), BATCH):
                part = slice(start, start + BATCH)
                roots = reviser.revise(boards[part], evaluations[part], effort)
                right += [
                    root.leader.move.uci() == one.action for root, one in zip(roots, positions[part], strict=True)
                ]
            first = first or right
            pair = paired(first, right)
            low, high = pair["interval"]
            print(
                f"{text}, rounds={rounds}: {100 * sum(right) / len(right):.1f} % of {len(right)}; "
                f"{100 * pair['difference']:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}], p = {pair['mcnemar']:.2g}",
                flush=True,
            )
    oracle.engine.close()


if __name__ == "__main__":
    main()
