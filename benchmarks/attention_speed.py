"""How long a training step of the trunk takes on a CPU with torch's fused attention, against the products written out.

    python benchmarks/attention_speed.py

Forward and backward pass in bf16, one thread, in turns; prints the ratio of the medians for some lengths of a record.
"""

from __future__ import annotations

import statistics
import time
from unittest import mock

import torch
from torch import Tensor

from diffusearch.model import trunk
from diffusearch.model.config import TrunkConfig

SHAPES = ((4, 128, 4, 128, 17), (4, 128, 4, 128, 40), (8, 256, 8, 64, 40), (8, 256, 8, 16, 312))
ROUNDS = 5


def seconds(net: trunk.Trunk, x: Tensor) -> float:
    began = time.process_time()
    with torch.autocast("cpu", torch.bfloat16):
        out = net(x)[0]
    out.float().square().sum().backward()
    return time.process_time() - began


def main() -> None:
    torch.set_num_threads(1)
    for layers, width, heads, batch, places in SHAPES:
        net = trunk.Trunk(TrunkConfig(layers=layers, width=width, heads=heads))
        x = torch.randn(batch, places, width, requires_grad=True)
        times: dict[str, list[float]] = {"fused": [], "written": []}
        for _ in range(ROUNDS):
            with mock.patch.object(trunk, "_written_out", return_value=False):
                times["fused"].append(seconds(net, x))
            times["written"].append(seconds(net, x))
        ratio = statistics.median(times["fused"]) / statistics.median(times["written"])
        print(f"{layers}x{width}, {places} places, batch {batch}: fused / written out = {ratio:.2f}")


if __name__ == "__main__":
    main()
