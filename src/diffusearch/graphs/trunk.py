"""The transformer's blocks as operators (model/trunk.py has what they mean)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffusearch.graphs.builder import GraphBuilder
from diffusearch.model.config import TrunkConfig

Linear = Callable[[str, str], str]  # rows and the name of a layer -> rows

_FORBIDDEN = float(np.finfo(np.float32).min)  # added to a score that must not count


@dataclass(frozen=True)
class Places:
    """The trunk's input: rows [batch x n, width], and n as a number or as a value in the graph (an array of one)."""

    rows: str
    count: int | str
    first: int = 0  # position of the first place


class TrunkGraph:
    """All blocks and the final norm."""

    def __init__(self, g: GraphBuilder, config: TrunkConfig, *, floats: int | None = None) -> None:
        """`floats`: the blocks from this number on have 8-bit weights; None: no block has."""
        self.g, self.config = g, config
        self.floats = config.layers if floats is None else floats
        self.head = config.width // config.heads

    def __call__(self, x: Places, past: list[str] | None = None, blind: int = 0) -> tuple[str, list[str]]:
        """Rows of hidden states, and of every block the keys and values of these places [2, batch, heads, n, head].

        `past`: the same of places that all of these attend to. `blind`: as many first places do not attend to the
        others.
        """
        g, rows = self.g, x.rows
        mask = None
        if blind or self.config.attention == "causal":
            assert isinstance(x.count, int)
            grid = np.zeros((x.count, x.count), dtype=np.float32)
            grid[:blind, blind:] = _FORBIDDEN
            if self.config.attention == "causal":
                grid[np.triu_indices(x.count, 1)] = _FORBIDDEN
            mask = g.constant(grid)
        present: list[str] = []
        for index in range(self.config.layers):
            block = f"trunk.blocks.{index}"
            linear = g.linear if index < self.floats else g.int8_linear
            seen, normed = past[index] if past else None, self._norm(rows, f"{block}.attention_norm")
            y, keys_values = self._attention(normed, f"{block}.attention", linear, x, seen, mask)
            present.append(keys_values)
            rows = g.add(rows, y)
            up = linear(self._norm(rows, f"{block}.mlp_norm"), f"{block}.mlp.up")
            rows = g.add(rows, linear(g.op("Gelu", up, approximate="tanh"), f"{block}.mlp.down"))
        return self._norm(rows, "trunk.norm"), present

    def _norm(self, rows: str, name: str) -> str:
        g = self.g
        return g.op("LayerNormalization", rows, g.weight(f"{name}.weight"), g.weight(f"{name}.bias"), epsilon=1e-5)

    def _attention(
        self, rows: str, name: str, linear: Linear, x: Places, past: str | None, mask: str | None
    ) -> tuple[str, str]:
        g, heads, head = self.g, self.config.heads, self.head
        qkv = self._split(linear(rows, f"{name}.qkv"), x.count)  # [3, batch, heads, n, head]
        query, keys_values = g.slice(qkv, 0, 1, 0), g.slice(qkv, 1, 3, 0)
        if self.config.positions == "rope":
            query = self._rotated(query, x)
            keys = self._rotated(g.slice(qkv, 1, 2, 0), x)
            keys_values = g.concat([keys, g.slice(qkv, 2, 3, 0)], 0)
        seen = keys_values if past is None else g.concat([past, keys_values], 3)
        keys, values = g.ops("Split", seen, count=2, axis=0, num_outputs=2)
        scores = g.op("MatMul", query, g.op("Transpose", keys, perm=[0, 1, 2, 4, 3]))
        scores = g.times(scores, float(head**-0.5))
        if mask is not None:
            scores = g.add(scores, mask)
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), values)
        y = g.reshape(g.op("Transpose", y, perm=[0, 1, 3, 2, 4]), -1, heads * head)
        return linear(y, f"{name}.out"), keys_values

    def _split(self, qkv: str, count: int | str) -> str:
        g, shape = self.g, (3, self.config.heads, self.head)
        if isinstance(count, int):
            parts = g.reshape(qkv, -1, count, *shape)
        else:
            whole = g.concat([g.constant(np.array([-1])), count, g.constant(np.array(shape))], 0)
            parts = g.op("Reshape", qkv, whole)
        return g.op("Transpose", parts, perm=[2, 0, 3, 1, 4])

    def _rotated(self, part: str, x: Places) -> str:
        """Rotary positions of [1, batch, heads, n, head]."""
        g, half = self.g, self.head // 2
        frequency = g.constant(10000.0 ** (-np.arange(half, dtype=np.float32) / half))
        count = g.constant(x.count, np.int64) if isinstance(x.count, int) else g.reshape(x.count)
        first = g.constant(x.first, np.int64)
        places = g.op("Range", first, g.add(count, first), g.constant(1, np.int64))
        angle = g.op("Mul", g.unsqueeze(g.to_float(places), 1), frequency)
        cos, sin = g.op("Cos", angle), g.op("Sin", angle)
        a, b = g.slice(part, 0, half, 4), g.slice(part, half, 2 * half, 4)
        turned = g.op("Sub", g.op("Mul", a, cos), g.op("Mul", b, sin))
        return g.concat([turned, g.add(g.op("Mul", a, sin), g.op("Mul", b, cos))], 4)
