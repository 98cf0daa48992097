"""The training loss of all discrete processes: weighted cross-entropy of the noised variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.model.heads import Logits
from diffusearch.tokens import moves
from diffusearch.tokens.batch import Batch
from diffusearch.tokens.layout import Layout


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


def soft_shares(batch: Batch, temperature: float) -> Tensor:
    """The shares [batch, K] of the scored moves in the target, by their win probability against the best; a row sums
    to 1, or to 0 where no move is scored."""
    return win_shares(batch.scored_wins, batch.scored_moves != moves.NONE, temperature)


def win_shares(wins: Tensor, scored: Tensor, temperature: float) -> Tensor:
    """Shares [batch, K] of scored moves [batch, K] by their win probabilities; what is not scored may be NaN."""
    known = wins.masked_fill(~scored, 0.0)
    powers = ((known - known.amax(1, keepdim=True)) / temperature).exp() * scored
    return powers / powers.sum(1, keepdim=True).clamp(min=1e-30)


def first_move_loss(scores: Tensor, target: Tensor, batch: Batch, config: LossConfig) -> Tensor:
    """The first move's cross-entropy [batch] from scores [batch, moves]: against the oracle's move and, with `soft`,
    also against the shares of the scored moves."""
    hard = F.cross_entropy(scores, target, reduction="none")
    if not config.soft or not batch.scored_moves.shape[1]:
        return hard
    shares = soft_shares(batch, config.soft_temperature).to(scores.device)
    likelihood = torch.log_softmax(scores, -1).gather(1, batch.scored_moves.to(scores.device))
    soft = -torch.where(shares > 0, shares * likelihood, 0.0).sum(1)
    return torch.where(shares.sum(1) > 0, (1.0 - config.soft) * hard + config.soft * soft, hard)


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
                raw = first_move_loss(root, target[:, 0], batch, config)
                total = total + config.raw_move * (raw * weight[:, 0]).sum()
            if config.legality > 0:
                lawful = root.masked_fill(~legal, float("-inf")).logsumexp(-1) - root.logsumexp(-1)
                total = total - config.legality * (lawful * weight[:, 0]).sum()
            scores = torch.cat([allowed[:, None], scores[:, 1:]], dim=1)
            hits = float(((allowed.argmax(-1) == target[:, 0]) & seen[:, 0]).sum() / seen[:, 0].sum().clamp(min=1))
        each = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none").view_as(target)
        if group.type == "action" and config.soft > 0:
            each = torch.cat([first_move_loss(scores[:, 0], target[:, 0], batch, config)[:, None], each[:, 1:]], dim=1)
        each = torch.where(seen, each, 0.0)
        by_type[group.type] = float(each.detach().sum() / seen.sum().clamp(min=1))
        total = total + (each * weight).sum()
    return Losses(total / (count * layout.predicted), by_type, hits)
