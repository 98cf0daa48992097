"""The training loss of all discrete processes: weighted cross-entropy of the noised variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.model.heads import Logits
from diffusearch.ranges import Range
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout

Weight = Annotated[float, Range(low=0, high=1e6)]
Share = Annotated[float, Range(low=0, high=1)]


@dataclass(frozen=True)
class LossConfig:
    """Weights of the loss terms. Defaults are the paper's: all noised variables have weight 1."""

    time_weight: Literal["constant", "reciprocal", "linear"] = "linear"  # lambda_t (paper: linear)
    action: Weight = 1.0  # of a move
    state: Weight = 1.0  # of a variable of a state
    changed: Weight = 1.0  # further factor of state variables that are not as if nothing had moved
    value: Weight = 1.0  # of a value variable, and of the auxiliary value of the root
    legal_root: bool = False  # the first move's softmax is over the root's legal moves only
    raw_move: Weight = 0.1  # with legal_root: of the first move's cross-entropy over all moves, which trains legality
    legality: Weight = 0.0  # of -log of the probability of legal moves in the first move's softmax over all moves
    full_noise: Share = 0.0  # share of records trained at t = T
    root_policy: Weight = 0.0  # of the first move with no future after it (prefix attention; diffusion/patterns.py)
    ply_by_ply: Share = 0.0  # share of records with only the last state or move noised, as in the order "plies"


@dataclass
class Losses:
    """The loss to minimise, and the mean cross-entropy of noised variables by type for the log."""

    total: Tensor
    by_type: dict[str, float]
    action_hits: float = 0.0  # share of noised first moves whose arg-max is right


def variable_weights(batch: Batch, layout: Layout, config: LossConfig) -> Tensor:
    """The weight [batch, variables] of each variable's cross-entropy, 0 where it is not known."""
    weights = torch.tensor(
        [{"action": config.action, "value": config.value}.get(kind, config.state) for kind in layout.types]
    )
    out = weights.expand(len(batch.tokens), -1) * batch.known
    if config.changed != 1.0:
        slots = len(layout.encoding.slots)
        factor, summand = (torch.from_numpy(array) for array in layout.encoding.unmoved)
        states = [segment.start for segment in layout.segments if segment.kind == "s"]
        for before, after in pairwise(states):
            unmoved = batch.tokens[:, before : before + slots] * factor + summand
            moved = batch.tokens[:, after : after + slots] != unmoved
            out[:, after : after + slots] *= 1.0 + (config.changed - 1.0) * moved
    return out


def cross_entropy(
    logits: Logits, batch: Batch, layout: Layout, noised: Tensor, lambdas: Tensor, config: LossConfig
) -> Losses:
    """Sum of lambda_t * w_v * CE over noised variables, divided by records and predicted variables.

    noised [batch, variables] bool; lambdas [batch] (or [batch, variables]).
    """
    weights = variable_weights(batch, layout, config) * noised * (lambdas[:, None] if lambdas.ndim == 1 else lambdas)
    device = logits[layout.groups[0].type].device
    tokens, legal, seen_all, weights = (
        x.to(device) for x in (batch.tokens, batch.legal, noised & batch.known, weights)
    )
    count = len(tokens)
    total = torch.zeros((), device=device)
    by_type: dict[str, float] = {}
    hits = 0.0
    for group in layout.groups:
        index = torch.from_numpy(group.variables)
        target, weight, seen = tokens[:, index], weights[:, index], seen_all[:, index]
        scores = logits[group.type].float()
        if group.type == "action":
            root = scores[:, 0]
            allowed = root.masked_fill(~legal, float("-inf")) if config.legal_root else root
            if config.legal_root and config.raw_move > 0:
                raw = F.cross_entropy(root, target[:, 0], reduction="none")
                total = total + config.raw_move * (raw * weight[:, 0]).sum()
            if config.legality > 0:
                lawful = root.masked_fill(~legal, float("-inf")).logsumexp(-1) - root.logsumexp(-1)
                total = total - config.legality * (lawful * weight[:, 0]).sum()
            scores = torch.cat([allowed[:, None], scores[:, 1:]], dim=1)
            hits = float(((allowed.argmax(-1) == target[:, 0]) & seen[:, 0]).sum() / seen[:, 0].sum().clamp(min=1))
        each = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
        each = torch.where(seen, each, 0.0)
        by_type[group.type] = float(each.detach().sum() / seen.sum().clamp(min=1))
        total = total + (each * weight).sum()
    return Losses(total / (count * layout.predicted), by_type, hits)
