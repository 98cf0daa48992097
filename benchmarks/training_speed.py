"""Training records/s of the paper's model (h = 4, 8 x 256): this project against a plain `transformers` GPT-2 in fp32.

Both take whole optimiser steps on the same number of records, turn about, so that a noisy machine is noisy for both.
Prints the ratio of the medians, and the share of the machine's own matmul peak that our step reaches.

    python benchmarks/training_speed.py [--batch 32] [--rounds 7]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from diffusearch.data.records import Records, write_records
from diffusearch.training.precision import has_bf16
from diffusearch.training.processes import World
from diffusearch.training.recipe import Recipe, recipe_from_dict
from diffusearch.training.sources import lines_of
from diffusearch.training.state import Training

FIXTURES = Path(__file__).parent.parent / "tests/fixtures/labelled"
PLAIN_LENGTH, PLAIN_VOCABULARY = 328, 2128  # the authors' context and vocabulary at h = 4


def ours(batch: int, folder: Path) -> Callable[[], None]:
    """One step of the paper's recipe."""
    write_records(lines_of(FIXTURES, "train", False), folder / "records", 4)
    recipe: Recipe = recipe_from_dict(
        {"optimiser": {"batch": batch, "steps": 10**6}, "data": {"sources": [{"path": str(folder / "records")}]}}
    )
    training = Training(recipe, folder, [Records(folder / "records")], World(0, 1))
    return lambda: training.take_step() and None


def plain(batch: int) -> Callable[[], None]:
    """The same step as one would write it first: all logits, eager attention, fp32, cross-entropy on masked tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=PLAIN_VOCABULARY, n_positions=1024, n_embd=256, n_layer=8, n_head=8, attn_implementation="eager"
    )
    net = GPT2LMHeadModel(config).train()
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-4)
    tokens = torch.randint(0, PLAIN_VOCABULARY, (batch, PLAIN_LENGTH))

    def step() -> None:
        noised = torch.rand(tokens.shape) < torch.rand(batch, 1)
        logits = net(torch.where(noised, 0, tokens)).logits
        loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none")
        (loss * noised.flatten()).mean().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    return step


def matmul_peak() -> float:
    """FLOP/s of a large product in the precision that training uses."""
    kind = torch.bfloat16 if has_bf16() else torch.float32
    a, b = torch.randn(2048, 2048, dtype=kind), torch.randn(2048, 2048, dtype=kind)
    best = 0.0
    for _ in range(5):
        began = time.perf_counter()
        a @ b
        best = max(best, 2 * 2048**3 / (time.perf_counter() - began))
    return best


def step_flops(batch: int, places: int = 312, width: int = 256, layers: int = 8) -> float:
    """Multiplications and additions of forward and backward: 6 for each weight and place, and the attention's."""
    weights = 12 * layers * width**2
    return 3 * batch * places * (2 * weights + 4 * layers * places * width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = {"ours": ours(arguments.batch, Path(folder)), "plain": plain(arguments.batch)}
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        for step in steps.values():
            step()  # warm up
        for _ in range(arguments.rounds):
            for name, step in steps.items():
                began = time.perf_counter()
                step()
                seconds[name].append(time.perf_counter() - began)
    middle = {name: statistics.median(times) for name, times in seconds.items()}
    ratios = np.array(seconds["plain"]) / np.array(seconds["ours"])
    peak = matmul_peak()
    print(f"threads {torch.get_num_threads()}, batch {arguments.batch}, bf16 {'yes' if has_bf16() else 'no'}")
    for name, time_ in middle.items():
        print(f"{name:6s} {arguments.batch / time_:8.1f} records/s")
    print(f"ratio {middle['plain'] / middle['ours']:.2f} (rounds: {ratios.min():.2f} to {ratios.max():.2f})")
    print(f"share of matmul peak {step_flops(arguments.batch) / middle['ours'] / peak:.2f} of {peak / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
