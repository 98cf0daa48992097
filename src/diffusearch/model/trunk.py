"""The transformer: pre-norm blocks over places, GPT-2 style. It contains nothing about chess or diffusion time.

Attention is full, prefix or causal. `past` holds the keys and values of places that were computed before and do not
attend to the new places. Full attention has no past. Prefix attention computes the root's places first and passes their
keys and values as past to the future's places, in training as in decoding, so that the cached root is exact. Causal
attention masks later places.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.config import TrunkConfig
from diffusearch.model.dropout import Dropout
from diffusearch.model.kv_cache import KeysValues, LayerCache, Past


class Attention(nn.Module):
    """Multi-head attention over the past and the new places."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.causal, self.rope = config.attention == "causal", config.positions == "rope"
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(
        self, x: Tensor, past: KeysValues | LayerCache | None, where: Tensor | None = None
    ) -> tuple[Tensor, KeysValues]:
        """Places [batch, places, width] -> the same shape, and the keys and values of the past and these places."""
        batch, places, width = x.shape
        qkv = self.qkv(x).view(batch, places, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = qkv.unbind(0)
        before = 0 if past is None or isinstance(past, LayerCache) else past[0].shape[2]
        if self.rope:
            start = before if where is None else where
            query, key = rotate(query, start), rotate(key, start)
        if isinstance(past, LayerCache):
            assert where is not None
            key, value = past.write(key, value, where)
        elif past is not None:
            key = torch.cat([past[0].expand(batch, -1, -1, -1), key], dim=2)
            value = torch.cat([past[1].expand(batch, -1, -1, -1), value], dim=2)
        y = attend(query, key, value, causal=self.causal and places > 1)
        y = self.out(y.transpose(1, 2).reshape(batch, places, width))
        return y, (key, value)


def attend(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """softmax(q k / sqrt(d)) v for queries [batch, heads, places, d], which are the last places of the keys.

    With gradients in bf16 on a CPU the products are written out: the backward pass of torch's fused attention takes
    several times as long there (benchmarks/attention_speed.py).
    """
    places, keys = query.shape[2], key.shape[2]
    mask = None
    if causal and (keys > places or _written_out(query)):
        mask = torch.ones(places, keys, dtype=torch.bool, device=query.device).tril(keys - places)
    if not _written_out(query):
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal and mask is None)
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value


def _written_out(query: Tensor) -> bool:
    return torch.is_grad_enabled() and query.device.type == "cpu" and query.dtype == torch.bfloat16


def rotate(x: Tensor, start: int | Tensor) -> Tensor:
    """Rotary positions of x [batch, heads, places, head width].

    `start` is the position of the first place, or the position of every place [batch, places].
    """
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    if isinstance(start, int):
        start = torch.arange(start, start + x.shape[2], device=x.device)[None]
    angle = start[:, None, :, None] * frequency
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def gelu(x: Tensor) -> Tensor:
    """GELU by its tanh formula, x (1 + tanh u) / 2 = x sigmoid(2 u), for use without gradients.

    On a CPU it takes less than half the time of torch's own.
    """
    slope = 2 * (2 / math.pi) ** 0.5
    twice = torch.addcmul(x.new_tensor(slope), x, x, value=0.044715 * slope).mul_(x)
    return twice.sigmoid_().mul_(x)


def trained_gelu(x: Tensor) -> Tensor:
    """GELU with gradients: the tanh formula, in bf16 on a CPU the exact function.

    There the exact one takes a third of the time. The two differ by at most 5e-4, less than bf16 rounds the products
    before and after.
    """
    exact = x.dtype == torch.bfloat16 and x.device.type == "cpu"
    return F.gelu(x, approximate="none" if exact else "tanh")


class Mlp(nn.Module):
    """The feed-forward half of a block, four times as wide inside."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.width, 4 * config.width)
        self.down = nn.Linear(4 * config.width, config.width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.up(x)
        y = trained_gelu(y) if torch.is_grad_enabled() else gelu(y)
        out: Tensor = self.down(y)
        return out


class Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.mlp_norm = nn.LayerNorm(config.width)
        self.mlp = Mlp(config)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, past: KeysValues | LayerCache | None, where: Tensor | None = None
    ) -> tuple[Tensor, KeysValues]:
        y, keys_values = self.attention(self.attention_norm(x), past, where)
        x = x + self.dropout(y)
        return x + self.dropout(self.mlp(self.mlp_norm(x))), keys_values


class Trunk(nn.Module):
    """All blocks and the final norm."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.config = config
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        for name, parameter in self.named_parameters():
            if name.endswith("weight") and parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
            if name.endswith(("attention.out.weight", "mlp.down.weight")):
                # GPT-2: what is added to the residual stream shrinks with depth
                nn.init.normal_(parameter, std=0.02 / (2 * config.layers) ** 0.5)

    def forward(
        self, x: Tensor, past: Past | list[LayerCache] | None = None, where: Tensor | None = None
    ) -> tuple[Tensor, Past]:
        """Embeddings [batch, places, width] -> hidden states of the same shape, and all keys and values so far.

        `where` [batch, places] gives the positions of these places if they do not follow the past in order.
        """
        present: Past = []
        for index, block in enumerate(self.blocks):
            x, keys_values = block(x, None if past is None else past[index], where)
            present.append(keys_values)
        return self.norm(x), present
