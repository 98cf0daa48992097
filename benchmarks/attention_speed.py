"""How long a training step's attention takes on a CPU: torch's fused one against the products written out.

    python benchmarks/attention_speed.py

Forward and backward pass, one thread, in turns; prints the ratio of the medians for some lengths of a record.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.model.trunk import attend

SHAPES = ((128, 4, 17, 32), (128, 4, 40, 32), (64, 4, 80, 32), (32, 8, 160, 32), (16, 8, 312, 32))
ROUNDS = 7


def fused(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value)


def written_out(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return attend(query, key, value, causal=False)


def seconds(attention: Callable[[Tensor, Tensor, Tensor], Tensor], qkv: Tensor) -> float:
    began = time.process_time()
    attention(*qkv.unbind(0)).sum().backward()  # type: ignore[no-untyped-call]
    return time.process_time() - began


def main() -> None:
    torch.set_num_threads(1)
    for shape in SHAPES:
        qkv = torch.randn(3, *shape, requires_grad=True)
        times: dict[str, list[float]] = {"fused": [], "written": []}
        for _ in range(ROUNDS):
            times["fused"].append(seconds(fused, qkv))
            times["written"].append(seconds(written_out, qkv))
        ratio = statistics.median(times["fused"]) / statistics.median(times["written"])
        print(f"batch {shape[0]}, {shape[1]} heads, {shape[2]} places: fused / written out = {ratio:.2f}")


if __name__ == "__main__":
    main()
