"""Tune the search: how often it plays the oracle's move, for a grid of settings, on labelled validation positions.

    python benchmarks/mcts_tune.py --data valid.parquet --policy RUN --value RUN --positions 400
    python benchmarks/mcts_tune.py --data valid.parquet --positions 200         # networks made by hand

Give it neither training nor test data: labels that the networks have not seen and that nothing is reported on.
All settings see the same positions, so differences are paired; the interval is that of one share alone (95 %, normal).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
import pyarrow.parquet as pq

from diffusearch.agents.searching import SearchAgent
from diffusearch.inference.evaluation import Allowed, Evaluation
from diffusearch.search.evaluator import Evaluator, PolicyAndValue
from diffusearch.search.handmade import Handmade
from diffusearch.search.mcts.planner import Mcts
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings


class Remembering:
    """An evaluator that evaluates each position only once: settings share most of their leaves."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.known: dict[str, Evaluation] = {}

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        new = {board.fen(): board for board in boards if board.fen() not in self.known}
        if new:
            found = self.evaluator.evaluate(list(new.values()))
            self.known.update((fen, replace(one, context=None)) for fen, one in zip(new, found, strict=True))
        return [self.known[board.fen()] for board in boards]


def positions(path: str, count: int, seed: int) -> list[tuple[chess.Board, chess.Move]]:
    """Positions and the oracle's moves, drawn from a labelled file."""
    table = pq.read_table(path, columns=["fen", "line"])
    rows = np.sort(np.random.default_rng(seed).choice(table.num_rows, min(count, table.num_rows), replace=False))
    drawn = table.take(rows).to_pylist()
    return [(chess.Board(row["fen"]), chess.Move.from_uci(row["line"].split()[0])) for row in drawn]


def networks(policy: str | None, value: str | None) -> Remembering:
    """Trained runs, or the evaluator made by hand where none is named."""
    import torch

    from diffusearch.inference.run import Run

    torch.set_num_threads(1)
    hand = Handmade()
    return Remembering(PolicyAndValue(Run.load(policy) if policy else hand, Run.load(value) if value else hand))


def grid(simulations: int) -> dict[str, Settings]:
    """The settings that are compared: the presets, then one dial at a time around the tuned values."""
    out = {
        "paper, most visited": replace(PAPER, temperature=0.0, simulations=simulations),
        "as published": replace(AS_PUBLISHED, simulations=simulations),
    }
    base = Settings(simulations=simulations, parallel=1)
    for cpuct in (0.1, 0.3, 0.6, 1.0, 1.5, 2.5):
        out[f"cpuct {cpuct:g}"] = replace(base, cpuct=cpuct)
    for reduction in (0.0, 0.1, 0.4):
        out[f"fpu parent - {reduction:g}"] = replace(base, reduction=reduction)
    for fpu in (0.0, 0.5):
        out[f"fpu {fpu:g}"] = replace(base, fpu=fpu)
    for parallel in (2, 4, 8, 16):
        out[f"tuned, parallel {parallel}"] = Settings(simulations=simulations, parallel=parallel)
    out["tuned, prove off"] = Settings(simulations=simulations, prove=False)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="labelled Parquet file with the columns fen and line")
    parser.add_argument("--policy", help="a run folder with priors")
    parser.add_argument("--value", help="a run folder with values")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--only", default="", help="only settings whose name has this in it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    nets = networks(options.policy, options.value)
    sample = positions(options.data, options.positions, options.seed)
    boards = [board for board, _ in sample]
    likeliest = [max(one.priors, key=one.priors.__getitem__) for one in nets.evaluate(boards)]
    alone = np.mean([move == best for move, (_, best) in zip(likeliest, sample, strict=True)])
    print(json.dumps({"settings": "policy alone", "accuracy": round(float(alone), 4), "n": len(sample)}), flush=True)
    for name, settings in grid(options.simulations).items():
        if options.only not in name:
            continue
        start = time.perf_counter()
        decisions = SearchAgent(Mcts(nets, settings=settings)).play_many(boards)
        seconds = time.perf_counter() - start
        share = np.mean([one.move == best for one, (_, best) in zip(decisions, sample, strict=True)])
        half = 1.96 * np.sqrt(share * (1 - share) / len(sample))
        row = {"settings": name, "accuracy": round(float(share), 4), "interval": round(float(half), 4)}
        print(json.dumps(row | {"seconds": round(seconds, 1)}), flush=True)


if __name__ == "__main__":
    main()
