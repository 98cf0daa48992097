"""Weighted cross-entropy of the noised variables: what every discrete process minimises."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.model.heads import Logits
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout


@dataclass(frozen=True)
class LossConfig:
    """What counts how much. Defaults are the paper's: every noised variable alike."""

    time_weight: str = "linear"  # lambda_t: "constant", "reciprocal" or "linear" (paper)
    action: float = 1.0  # weight of a move
    state: float = 1.0  # weight of a variable of a state
    changed: float = 1.0  # further factor for what is not as it would be if nothing had moved: squares, rights, clocks
    value: float = 1.0  # weight of a value, and of the auxiliary value of the root
    focal: float = 0.0  # exponent gamma of the token-level focal factor (1 - p)^gamma; 0 = off
    legal_root: bool = False  # softmax of the first move over the root's legal moves only
    raw_move: float = 0.1  # with legal_root: weight of the first move's loss over all moves, which teaches legality
    legality: float = 0.0  # weight of -log of the share of legal moves in the softmax of the first move over all
    full_noise: float = 0.0  # share of records trained at t = T
    root_policy: float = 0.0  # weight of the first move from the root alone, with no future behind it (prefix)
    ply_by_ply: float = 0.0  # share of records as the order "plies" meets them: all is clean but the last state or move


@dataclass
class Losses:
    """The loss to minimise, and for the log the mean cross-entropy of noised variables by type."""

    total: Tensor
    by_type: dict[str, float]
    action_hits: float = 0.0  # share of first moves that the arg-max gets right where they were noised


def variable_weights(batch: Batch, layout: Layout, config: LossConfig) -> Tensor:
    """[batch, variables]: the weight of each variable's cross-entropy, 0 where it is not known."""
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
        if config.focal > 0:
            each = each * (1.0 - torch.exp(-each.detach())) ** config.focal
        total = total + (each * weight).sum()
    return Losses(total / (count * layout.predicted), by_type, hits)
