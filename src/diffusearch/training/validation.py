"""How good are the weights so far, on games that training never saw?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from diffusearch.data.loader import Batch, tokenise
from diffusearch.data.records import Records
from diffusearch.diffusion.decoding import Decoding
from diffusearch.tokens.values import BIN_VALUES
from diffusearch.training.log import Validation

if TYPE_CHECKING:
    from diffusearch.training.loop import Training

_PIECE = 256  # records at a time


@torch.inference_mode()
def validate(training: Training, records: Records, limit: int) -> Validation:
    """Action accuracy in one step and decoded (256 records), raw legality, and value error, of the weights to use."""
    net = training.net
    kept = {name: p.detach().clone() for name, p in net.named_parameters()}
    for name, parameter in net.named_parameters():
        parameter.copy_(training.weights()[name])
    net.eval()
    sums: dict[str, float] = {}
    count = min(limit, len(records))
    for start in range(0, count, _PIECE):
        batch = tokenise(records.take(np.arange(start, min(start + _PIECE, count))), net.layout)
        for name, value in _measure(training, batch, decode=start == 0).items():
            sums[name] = sums.get(name, 0.0) + value
    for name, parameter in net.named_parameters():
        parameter.copy_(kept[name])
    decoded = min(_PIECE, count)
    figures = {name: value / (decoded if name.startswith("decoded") else count) for name, value in sums.items()}
    score = figures.get("decoded accuracy", figures.get("accuracy", -figures.get("value error", 0.0)))
    return Validation(figures.get("accuracy", score), figures)


def _measure(training: Training, batch: Batch, decode: bool) -> dict[str, float]:
    net, layout = training.net, training.net.layout
    given = batch.tokens[:, : layout.given_variables]
    generator = torch.Generator().manual_seed(0)
    allowed = batch.legal
    out: dict[str, float] = {}
    action = layout.segment("a", 0)
    if action is not None and not action.given:
        once = training.process.sample(net, given, layout, Decoding(steps=1), generator, allowed)
        target = batch.tokens[:, action.start]
        out["accuracy"] = float((once.tokens[:, action.start] == target).sum())
        assert once.raw_move_logits is not None
        raw = once.raw_move_logits.argmax(-1)
        out["raw legal"] = float(allowed.gather(1, raw[:, None]).sum())
        out["action loss"] = float(
            F.nll_loss(once.move_log_probabilities, target, reduction="sum") if once.move_log_probabilities is not None else 0
        )
        if once.value_logits is not None and bool((batch.value >= 0).all()):
            out["value error"] = _value_error(once.value_logits, batch.value)
        if decode and layout.variables - layout.given_variables > 1:
            full = training.process.sample(net, given, layout, Decoding(steps=20), generator, allowed)
            out["decoded accuracy"] = float((full.tokens[:, action.start] == target).sum())
            state = layout.segment("s", 1)
            if state is not None:
                span = slice(state.start, state.start + len(layout.encoding.slots))
                known = batch.known[:, state.start] & (full.tokens[:, action.start] == target)
                right = (full.tokens[:, span] == batch.tokens[:, span]).all(1) & known
                out["decoded next state right"] = float(right.sum() / known.sum().clamp(min=1)) * len(target)
    else:
        value = layout.segment("v", 0)
        assert value is not None
        hidden = net.hidden(
            torch.cat([given, torch.full_like(batch.tokens[:, layout.given_variables :], int(layout.sizes[-1]))], 1), layout
        )
        out["value error"] = _value_error(net.logits(hidden, layout)["value"][:, 0], batch.tokens[:, value.start])
    return out


def _value_error(logits: torch.Tensor, bins: torch.Tensor) -> float:
    """Sum of |expected win probability - label|."""
    centres = torch.from_numpy(BIN_VALUES)
    return float(((logits.float().softmax(-1) @ centres) - centres[bins]).abs().sum())
