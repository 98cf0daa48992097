"""onnxruntime against torch, side by side in one run: one evaluation, one decision, one joint denoising; same moves?

    OMP_NUM_THREADS=1 python benchmarks/backend_speed.py
    OMP_NUM_THREADS=1 python benchmarks/backend_speed.py --moves 500      # how many of 500 moves are the same
    OMP_NUM_THREADS=1 python benchmarks/backend_speed.py --moves 500 --int8 --agents search diffusearch
    OMP_NUM_THREADS=1 python benchmarks/backend_speed.py --moves 500 --agents 'search?dynamics=rules' --against search

Processor time of one thread. Rounds alternate between the two, and the median of their ratios is told, so that a busy
machine slows both. One evaluation is also compared with a plain residual network in torch, of the size of small public
ones: 48 channels x 5 blocks.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import torch
from torch import Tensor, nn

from diffusearch.agents.build import agent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.roots import given_variables
from diffusearch.inference.run import Run
from diffusearch.inference.threads import use_threads
from diffusearch.weights import packaged

GOLDEN = Path(__file__).parents[1] / "web" / "tests" / "golden.json.gz"  # 500 positions of games
AGENTS = ("search", "diffusearch?steps=1", "diffusearch", "s-a", "mcts")
PLANES, CHANNELS, BLOCKS, MOVES = 19, 48, 5, 1968


class Residual(nn.Module):
    """Two convolutions with batch norm and a skip."""

    def __init__(self) -> None:
        super().__init__()
        convolutions = [nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False) for _ in range(2)]
        norms = [nn.BatchNorm2d(CHANNELS) for _ in range(2)]
        self.body = nn.Sequential(convolutions[0], norms[0], nn.ReLU(), convolutions[1], norms[1])

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.body(x))


class PlainNet(nn.Module):
    """A residual network with a policy and a value head."""

    def __init__(self) -> None:
        super().__init__()
        stem = nn.Sequential(nn.Conv2d(PLANES, CHANNELS, 3, padding=1, bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU())
        self.body = nn.Sequential(stem, *(Residual() for _ in range(BLOCKS)))
        self.policy = nn.Sequential(nn.Conv2d(CHANNELS, 3, 1), nn.ReLU(), nn.Flatten(), nn.Linear(192, MOVES))
        self.value = nn.Sequential(nn.Conv2d(CHANNELS, 1, 1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body(x)
        return self.policy(hidden), self.value(hidden)


def positions(count: int) -> list[chess.Board]:
    """Positions of games of the packaged network."""
    found = json.loads(gzip.decompress(GOLDEN.read_bytes()))["positions"]
    return [chess.Board(one["fen"]) for one in found[:: max(1, len(found) // count)]][:count]


def alternating(ways: dict[str, Callable[[], object]], rounds: int, each: int) -> dict[str, list[float]]:
    """Processor seconds of one call, for each way and round."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for call in ways.values():
        call()
    for _ in range(rounds):
        for name, call in ways.items():
            began = time.process_time()
            for _ in range(each):
                call()
            seconds[name].append((time.process_time() - began) / each)
    return seconds


def told(what: str, seconds: dict[str, list[float]], goal: str, unit: str = "torch") -> None:
    """One line: milliseconds of each way, and how many times as fast as the unit it is."""
    middle = {name: 1000 * statistics.median(times) for name, times in seconds.items()}
    ratios = {
        name: statistics.median(b / a for a, b in zip(times, seconds[unit], strict=True))
        for name, times in seconds.items()
        if name != unit
    }
    times = ", ".join(f"{name} {value:.2f} ms" for name, value in middle.items())
    against = ", ".join(f"{unit} / ({name}) = {ratio:.2f}" for name, ratio in ratios.items())
    print(f"{what}: {times}; {against} (goal: {goal})", flush=True)


def speeds(rounds: int) -> None:
    runs = {name: Run.load(packaged("diffusearch"), name) for name in ("onnx", "torch")}
    runs["onnx, 8 bits"] = runs["onnx"].quantised()
    near = runs["onnx"].recipe.trained_layout()
    given = given_variables([chess.Board()], near)
    plain, planes = PlainNet().eval(), torch.zeros(1, PLANES, 8, 8)
    parameters = sum(parameter.numel() for parameter in plain.parameters())

    def residual() -> object:
        with torch.inference_mode():
            return plain(planes)

    def look(run: Run) -> Callable[[], object]:
        return lambda: run.backend.look(given, near)

    ways: dict[str, Callable[[], object]] = {name: look(run) for name, run in runs.items()}
    net = f"residual net ({parameters / 1e6:.1f}M)"
    seconds = alternating(ways | {net: residual}, 5 * rounds, 20)
    told("one evaluation", seconds, "at most 3 ms and 1.3 times the residual net: at least 0.77", net)

    boards = positions(rounds)
    texts = {"onnx": "backend=onnx", "torch": "backend=torch", "onnx, 8 bits": "backend=onnx&int8=on"}
    texts["onnx, 8 bits, margin 8"] = "backend=onnx&int8=on&margin=8"
    texts["onnx, states by the rules"] = "backend=onnx&dynamics=rules"
    texts["onnx, 8 bits, states by the rules"] = "backend=onnx&int8=on&dynamics=rules"
    agents = {name: agent(f"search?{text}") for name, text in texts.items()}
    told(
        "one decision of search",
        on_boards(boards, {name: one.play for name, one in agents.items()}),
        "3.5",
    )
    joint = Decoding(order="confidence", steps=20)
    layout = runs["onnx"].layout

    def denoise(run: Run) -> Callable[[chess.Board], object]:
        return lambda board: run.backend.sample(
            given_variables([board], layout), layout, joint, np.random.default_rng(0), None, False
        )

    ways = {name: denoise(run) for name, run in runs.items()}
    told("joint denoising, 20 steps, h = 4", on_boards(boards, ways), "4")


def on_boards(boards: list[chess.Board], ways: dict[str, Callable[[chess.Board], object]]) -> dict[str, list[float]]:
    """Processor seconds of one call for each way and board."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for board in boards:
        calls = {name: functools.partial(way, board) for name, way in ways.items()}
        for name, times in alternating(calls, 1, 1).items():
            seconds[name] += times
    return seconds


def with_backend(text: str, name: str) -> str:
    return f"{text}{'&' if '?' in text else '?'}backend={name}"


def same_moves(count: int, texts: tuple[str, ...], int8: bool, against: str | None) -> None:
    """How often onnxruntime plays torch's move, or the move of the agent `against` in torch."""
    boards, small = positions(count), "&int8=on" if int8 else ""
    for text in texts:
        ours, theirs = agent(with_backend(text, "onnx") + small), agent(with_backend(against or text, "torch"))
        with ours, theirs:
            same = 0
            for board in boards:
                for player in (ours, theirs):
                    player.new_game()
                same += ours.play(board).move == theirs.play(board).move
        print(f"{text}{small}: the same move in {same} of {len(boards)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--moves", type=int, default=0, help="compare moves in so many positions instead")
    parser.add_argument("--agents", nargs="*", default=AGENTS)
    parser.add_argument("--against", help="the agent in torch whose moves count; each agent itself if left out")
    parser.add_argument("--int8", action="store_true", help="8-bit weights in onnxruntime")
    arguments = parser.parse_args()
    use_threads(1)
    torch.set_num_threads(1)
    if arguments.moves:
        same_moves(arguments.moves, tuple(arguments.agents), arguments.int8, arguments.against)
    else:
        speeds(arguments.rounds)


if __name__ == "__main__":
    main()
