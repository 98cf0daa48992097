"""The transformer: pre-norm blocks over places. Nothing about chess or diffusion time in it.

Attention is one mechanism with a memory: `past` holds the keys and values of places that were computed before and
that do not see the new ones. Full attention has no past; prefix attention gives the root's places as past to the
future's, in training as in decoding, so that cached decoding is exact; causal attention masks within the new places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Past = list[tuple[Tensor, Tensor]]  # for each layer keys and values [batch, heads, places, head width]


class Shelf:
    """A layer's keys and values of all places, each on a board of its own: the new are put where the old were."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.room: tuple[Tensor, Tensor] | None = None

    def put(self, key: Tensor, value: Tensor, where: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [batch, heads, n, head width] of the places `where` [batch, n] -> those of all places."""
        if self.room is None:
            batch, heads, _, head = key.shape
            self.room = key.new_zeros(batch, heads, self.places, head), value.new_zeros(batch, heads, self.places, head)
        index = where[:, None, :, None].expand_as(key)
        self.room[0].scatter_(2, index, key)
        self.room[1].scatter_(2, index, value)
        return self.room


@dataclass(frozen=True)
class TrunkConfig:
    """The shape of the trunk; defaults are the paper's (8 layers, GPT-2 style, 7M parameters)."""

    layers: int = 8
    width: int = 256
    heads: int = 8
    dropout: float = 0.1  # of what blocks add; not of attention weights, which would forbid the fused kernels
    attention: str = "full"  # "full", "prefix" or "causal"
    positions: str = "learned"  # "learned" or "rope"
    norm: str = "layer"  # "layer" (paper) or "rms"
    mlp: str = "gelu"  # "gelu" (paper) or "swiglu"
    qk_norm: bool = False  # normalise queries and keys


def make_norm(kind: str, width: int) -> nn.Module:
    """LayerNorm or RMSNorm."""
    return nn.LayerNorm(width) if kind == "layer" else nn.RMSNorm(width)


class Attention(nn.Module):
    """Multi-head attention over the past and the new places."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.causal, self.rope = config.attention == "causal", config.positions == "rope"
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        head = config.width // config.heads
        self.query_norm = nn.RMSNorm(head) if config.qk_norm else nn.Identity()
        self.key_norm = nn.RMSNorm(head) if config.qk_norm else nn.Identity()

    def forward(
        self, x: Tensor, past: tuple[Tensor, Tensor] | Shelf | None, where: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batch, places, width = x.shape
        qkv = self.qkv(x).view(batch, places, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = self.query_norm(qkv[0]), self.key_norm(qkv[1]), qkv[2]
        before = 0 if past is None or isinstance(past, Shelf) else past[0].shape[2]
        if self.rope:
            start = before if where is None else where
            query, key = rotate(query, start), rotate(key, start)
        if isinstance(past, Shelf):
            assert where is not None
            key, value = past.put(key, value, where)
        elif past is not None:
            key = torch.cat([past[0].expand(batch, -1, -1, -1), key], dim=2)
            value = torch.cat([past[1].expand(batch, -1, -1, -1), value], dim=2)
        mask = None
        if self.causal and before and places > 1:
            mask = torch.ones(places, before + places, dtype=torch.bool, device=x.device).tril(before)
        y = F.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=self.causal and before == 0 and places > 1,
        )
        y = self.out(y.transpose(1, 2).reshape(batch, places, width))
        return y, (key, value)


def rotate(x: Tensor, start: int | Tensor) -> Tensor:
    """Rotary positions: x [batch, heads, places, head width], the first place standing at `start`, or each place where
    `start` [batch, places] says."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    if isinstance(start, int):
        start = torch.arange(start, start + x.shape[2], device=x.device)[None]
    angle = start[:, None, :, None] * frequency
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def gelu(x: Tensor) -> Tensor:
    """GELU by its tanh formula, x (1 + tanh u) / 2 = x sigmoid(2 u), for use without gradients; on a CPU torch's own
    takes more than twice as long."""
    slope = 2 * (2 / math.pi) ** 0.5
    twice = torch.addcmul(x.new_tensor(slope), x, x, value=0.044715 * slope).mul_(x)
    return twice.sigmoid_().mul_(x)


class Mlp(nn.Module):
    """The feed-forward half of a block, four times as wide inside (SwiGLU: 8/3, the same number of parameters)."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.gated = config.mlp == "swiglu"
        inner = 4 * config.width if not self.gated else 8 * ((8 * config.width // 3 + 7) // 8)
        self.up = nn.Linear(config.width, 2 * inner if self.gated else inner)
        self.down = nn.Linear(inner, config.width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.up(x)
        if self.gated:
            gate, y = y.chunk(2, dim=-1)
            y = F.silu(gate) * y
        else:
            y = F.gelu(y, approximate="tanh") if torch.is_grad_enabled() else gelu(y)
        out: Tensor = self.down(y)
        return out


class Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.attention_norm = make_norm(config.norm, config.width)
        self.attention = Attention(config)
        self.mlp_norm = make_norm(config.norm, config.width)
        self.mlp = Mlp(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, past: tuple[Tensor, Tensor] | Shelf | None, where: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        y, keys = self.attention(self.attention_norm(x), past, where)
        x = x + self.dropout(y)
        return x + self.dropout(self.mlp(self.mlp_norm(x))), keys


class Trunk(nn.Module):
    """All blocks and the final norm."""

    def __init__(self, config: TrunkConfig) -> None:
        super().__init__()
        self.config = config
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = make_norm(config.norm, config.width)
        for name, parameter in self.named_parameters():
            if name.endswith("weight") and parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
            if name.endswith(("attention.out.weight", "mlp.down.weight")):
                # GPT-2: what is added to the residual stream shrinks with depth
                nn.init.normal_(parameter, std=0.02 / (2 * config.layers) ** 0.5)

    def forward(
        self, x: Tensor, past: Past | list[Shelf] | None = None, where: Tensor | None = None
    ) -> tuple[Tensor, Past]:
        """Embeddings [batch, places, width] -> hidden states of the same shape, and all keys and values so far.

        `where` [batch, places] says which places these are if they do not stand in a row behind the past.
        """
        present: Past = []
        for index, block in enumerate(self.blocks):
            x, keys = block(x, None if past is None else past[index], where)
            present.append(keys)
        return self.norm(x), present
