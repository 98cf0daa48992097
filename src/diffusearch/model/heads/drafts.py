"""The draft reader (`draft_reader = true`): the network reads positions that it drafted, and revises its move.

A draft is a first move and the network's own lines after it (tokens/drafts.py). With l_k the log probability of move k
in the first look and o_km the log odds of the root's mover at node m of draft k:

    c_km = w_c . phi(squares of node and root, numbers of the node, ply)
    v_km = o_km + c_km
    line = sum over plies of softmax(ply_weights) v          a missing node has the value of the one before
    F_k  = -T log sum over lines exp(-line / T)              soft minimum over replies, T learned
    s_k  = l_k + w F_k + g(numbers of the draft)             drafted moves
    s_j  = l_j + w max_k F_k + rest                          all other moves
    p    = softmax(scale x s)

The softmax over all moves, with s_j, is training's. In play the drafted moves share anew what they had together at the
first look, by a softmax over them alone, and the other moves keep what they had (drafts/revising.py). A drafted move
whose position is not valid has s_j among them.

"Squares" are the hidden states of the trunk, pooled by learned attention. At the start phi and g are zero, and the
reader is a rule: log probability + w x (minimum over replies of the mean log odds along the line).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.config import ABSENT, LEARNING_RATE_MULTIPLIER, NUMBERS, POOLED, QUERIES
from diffusearch.model.rows import turned_places
from diffusearch.tokens.drafts import BEFORE, DEPTH, LINES, NODES, PLIES
from diffusearch.tokens.layout import Layout


class Drafts(NamedTuple):
    """K drafts of each of n roots. What does not exist may hold any finite number."""

    root: Tensor  # [n, places, width] hidden states of the roots
    hidden: Tensor  # [n, K, nodes, places, width] of the drafted positions, each seen by its own side to move
    root_odds: Tensor  # [n] log odds of the root's mover
    odds: Tensor  # [n, K, nodes] log odds of the root's mover
    log_shares: Tensor  # [n, K, nodes] log probability of the move that leads to the node
    exists: Tensor  # [n, K, nodes] bool: drafted and a valid position; a draft without node 0 does not exist
    over: Tensor  # [n, K, nodes] bool: the game is known to be over there


class Reading(NamedTuple):
    """What the reader says of drafts. Scores are added to log probabilities, then all are multiplied by `scale`."""

    scores: Tensor  # [n, K] of drafted moves; `rest` where there is no draft
    rest: Tensor  # [n] of all other moves; only training reads it
    scale: Tensor  # [1]
    odds: Tensor  # [n, K, nodes] corrected log odds
    worth: Tensor  # [n, K] F_k, the log odds of a draft as a whole


class DraftReader(nn.Module):
    """Reads the squares and the numbers of drafts; a learned backup in the shape of a rule."""

    def __init__(self, layout: Layout, width: int, dropout: float = 0.2) -> None:
        super().__init__()
        places, pooled = layout.given_places, QUERIES * POOLED
        # w, log T and log scale. Only the scale learns fast: labels of shallow searches are noisy, and cross-entropy
        # would lower w to be calibrated on them, at the cost of the likeliest move.
        self.rule = nn.Parameter(torch.tensor([16.0, math.log(0.15), -1.2 / LEARNING_RATE_MULTIPLIER]))
        self.ply_weights = nn.Parameter(torch.zeros(DEPTH))
        self.rest = nn.Parameter(torch.zeros(1))
        self.win = nn.Parameter(torch.tensor([1.0, 0.0]))  # win probability of a draft: sigmoid(win0 F + win1)
        self.place_bias = nn.Parameter(torch.randn(places, QUERIES) * 0.02)
        self.query = nn.Linear(width, QUERIES)
        self.collect = nn.Linear(width, pooled)
        inputs = 2 * pooled + NUMBERS + DEPTH
        self.squares = nn.Sequential(
            nn.Linear(inputs, 128), nn.GELU(), nn.Dropout(dropout), nn.Linear(128, 64), nn.GELU()
        )
        self.correction = nn.Linear(64, 1)
        self.numbers = nn.Sequential(nn.Linear(NUMBERS * NODES + 2, 64), nn.GELU(), nn.Linear(64, 1))
        self.dropout = dropout
        for layer in (self.query, self.correction, self.numbers[-1]):
            nn.init.zeros_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        self.turned: Tensor
        self.register_buffer("turned", torch.tensor(turned_places(layout)), persistent=False)

    @property
    def value_weight(self) -> Tensor:
        """w, the weight of log odds against log probabilities."""
        return self.rule[0]

    @property
    def temperature(self) -> Tensor:
        """T of the soft minimum over replies."""
        return self.rule[1].exp()

    @property
    def scale(self) -> Tensor:
        """Of all scores in the softmax."""
        return (LEARNING_RATE_MULTIPLIER * self.rule[2]).exp()

    def forward(self, drafts: Drafts) -> Reading:
        """The scores of drafted moves and of all others, and the corrected values."""
        exists, numbers = drafts.exists, _numbers(drafts)
        odds = drafts.odds + torch.where(exists & ~drafts.over, self._corrections(drafts, numbers), 0.0)
        worth = self._worth(odds, exists)
        rank = torch.arange(odds.shape[1], device=odds.device).expand(odds.shape[:2]) / 6
        whole = torch.cat([numbers.flatten(2), drafts.log_shares[..., :1] / 3, rank[..., None]], -1)
        scores = self.value_weight * worth + self.numbers(whole)[..., 0]
        top = worth.masked_fill(~exists[..., 0], -ABSENT).amax(1)
        rest = torch.where(exists[..., 0].any(1), self.value_weight * top + self.rest, 0.0)
        scores = torch.where(exists[..., 0], scores, rest[:, None])
        return Reading(scores, rest, self.scale[None], odds, worth)

    def win_logits(self, worth: Tensor) -> Tensor:
        """Logits of the mover's win probability after drafted moves, from F_k."""
        return self.win[0] * worth + self.win[1]

    def _corrections(self, drafts: Drafts, numbers: Tensor) -> Tensor:
        """[n, K, nodes] what the squares change in the values."""
        turned = drafts.hidden[:, :, :, self.turned]  # the opponent's frame mirrors the ranks
        opponent = torch.tensor(PLIES, device=turned.device) % 2 == 1
        pooled = self._pool(torch.where(opponent[:, None, None], turned, drafts.hidden))
        root = self._pool(drafts.root)[:, None, None].expand_as(pooled)
        ply = F.one_hot(torch.tensor(PLIES, device=pooled.device) - 1, DEPTH).to(pooled.dtype)
        ply = ply.expand(*pooled.shape[:3], DEPTH)
        pooled = F.dropout(pooled, self.dropout, self.training)
        corrections: Tensor = self.correction(self.squares(torch.cat([pooled, root, numbers, ply], -1)))
        return corrections[..., 0]

    def _pool(self, hidden: Tensor) -> Tensor:
        """Hidden states [..., places, width] -> [..., queries x 24]."""
        attention = (self.query(hidden) + self.place_bias).softmax(-2)
        collected = self.collect(hidden).unflatten(-1, (QUERIES, POOLED))
        pooled: Tensor = (attention[..., None] * collected).sum(-3).flatten(-2)
        return pooled

    def _worth(self, odds: Tensor, exists: Tensor) -> Tensor:
        """F_k [n, K]: the soft minimum over lines of their mean log odds."""
        weights = self.ply_weights.softmax(0)
        lines = []
        for line in LINES:
            value, total = odds[..., line[0]], torch.zeros_like(odds[..., 0])
            for weight, node in zip(weights, line, strict=True):
                value = torch.where(exists[..., node], odds[..., node], value)
                total = total + weight * value
            absent = torch.full_like(total, ABSENT)
            lines.append(total if line is LINES[0] else torch.where(exists[..., line[1]], total, absent))
        temperature = self.temperature
        return -temperature * torch.logsumexp(-torch.stack(lines, -1) / temperature, -1)


def _numbers(drafts: Drafts) -> Tensor:
    """The numbers of each node [n, K, nodes, 7], 0 where it does not exist."""
    along: list[Tensor] = []  # log probability of the line from the first reply on
    for node, before in enumerate(BEFORE):
        share = drafts.log_shares[..., node]
        along.append(torch.zeros_like(share) if before is None else along[before] + share)
    replies = drafts.log_shares * torch.tensor([before is not None for before in BEFORE], device=drafts.odds.device)
    odds = drafts.odds
    each = [odds / 2, (odds - drafts.root_odds[:, None, None]) / 2, odds.abs() / 3, replies / 3]
    each += [torch.stack(along, -1) / 3, drafts.exists.to(odds.dtype), drafts.over.to(odds.dtype)]
    return torch.stack(each, -1) * drafts.exists[..., None]
