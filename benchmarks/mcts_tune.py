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
import numpy.typing as npt
import pyarrow.parquet as pq
from diffusearch.search.nets import Policy, Value

from diffusearch.agents.searching import SearchAgent
from diffusearch.search.handmade import GainPolicy, MaterialValue
from diffusearch.search.mcts.settings import AS_PUBLISHED, PAPER, Settings


class Remembering:
    """Two networks that look at each position only once: settings share most of their leaves."""

    def __init__(self, policy: Policy, value: Value) -> None:
        self.policy, self.value = policy, value
        self.known: dict[str, tuple[dict[chess.Move, float], float]] = {}

    def look(self, boards: Sequence[chess.Board]) -> list[tuple[dict[chess.Move, float], float]]:
        new = list({board.fen(): board for board in boards if board.fen() not in self.known}.items())
        if new:
            asked = [board for _, board in new]
            priors, values = self.policy.priors(asked), self.value.values(asked).tolist()
            self.known.update(zip((fen for fen, _ in new), zip(priors, values, strict=True), strict=True))
        return [self.known[board.fen()] for board in boards]

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        return [priors for priors, _ in self.look(boards)]

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float64]:
        return np.array([value for _, value in self.look(boards)])


def positions(path: str, count: int, seed: int) -> list[tuple[chess.Board, chess.Move]]:
    """Positions and the oracle's moves, drawn from a labelled file."""
    table = pq.read_table(path, columns=["fen", "line"])
    rows = np.sort(np.random.default_rng(seed).choice(table.num_rows, min(count, table.num_rows), replace=False))
    drawn = table.take(rows).to_pylist()
    return [(chess.Board(row["fen"]), chess.Move.from_uci(row["line"].split()[0])) for row in drawn]


def networks(policy: str | None, value: str | None) -> Remembering:
    """Trained runs, or the ones made by hand where none is named."""
    import torch

    from diffusearch.inference.run import Run

    torch.set_num_threads(1)
    return Remembering(Run.load(policy) if policy else GainPolicy(), Run.load(value) if value else MaterialValue())


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
    priors = nets.priors(boards)
    likeliest = [max(one, key=lambda move: one[move]) for one in priors]
    alone = np.mean([move == best for move, (_, best) in zip(likeliest, sample, strict=True)])
    print(json.dumps({"settings": "policy alone", "accuracy": round(float(alone), 4), "n": len(sample)}), flush=True)
    for name, settings in grid(options.simulations).items():
        if options.only not in name:
            continue
        start = time.perf_counter()
        decisions = SearchAgent(nets, nets, settings).play_many(boards)
        seconds = time.perf_counter() - start
        share = np.mean([one.move == best for one, (_, best) in zip(decisions, sample, strict=True)])
        half = 1.96 * np.sqrt(share * (1 - share) / len(sample))
        row = {"settings": name, "accuracy": round(float(share), 4), "interval": round(float(half), 4)}
        print(json.dumps(row | {"seconds": round(seconds, 1)}), flush=True)


if __name__ == "__main__":
    main()
