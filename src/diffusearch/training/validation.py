"""Measures the weights so far on records that are not trained on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from diffusearch.data.records import Records
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.sampling import Sample
from diffusearch.tokens.batch import Batch, masked, tokenise
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.values import BIN_VALUES
from diffusearch.training.log import Validation

if TYPE_CHECKING:
    from diffusearch.training.state import Training

_PIECE = 256  # records at a time; the first 256 are also decoded as the recipe says

Tally = dict[str, tuple[Tensor, Tensor]]  # figure -> values [batch] and which of them count [batch]


@torch.inference_mode()
def validate(training: Training, records: Records, limit: int) -> Validation:
    """Measure the weights to use on the first `limit` records.

    Move accuracy in one step, raw legality and value error; on the first 256 records also the accuracy of the move and
    of the next state, decoded with the recipe's [decoding] at the model's whole horizon.
    """
    sums: dict[str, list[float]] = {}
    count = min(limit, len(records))
    with weights_to_use(training):
        for start in range(0, count, _PIECE):
            arrays = records.take(np.arange(start, min(start + _PIECE, count)))
            for name, (values, counts) in _measure(training, tokenise(arrays, training.net.layout), start == 0).items():
                total = sums.setdefault(name, [0.0, 0.0])
                total[0] += float(torch.where(counts, values.double(), 0.0).sum())
                total[1] += float(counts.sum())
    figures = {name: total / number for name, (total, number) in sums.items() if number > 0}
    return Validation(figures["accuracy"] if "accuracy" in figures else -figures.get("value error", 1.0), figures)


@contextmanager
def weights_to_use(training: Training) -> Iterator[None]:
    """A context in which the network has the weights to use (the average where there is one)."""
    net, chosen = training.net, training.weights()
    kept = {name: p.detach().clone() for name, p in net.named_parameters()}
    try:
        for name, parameter in net.named_parameters():
            parameter.copy_(chosen[name])
        net.eval()
        yield
    finally:
        for name, parameter in net.named_parameters():
            parameter.copy_(kept[name])


def _measure(training: Training, batch: Batch, decode: bool) -> Tally:
    layout = training.net.layout
    action = layout.segment("a", 0)
    if action is None or action.given:
        return _value(training, batch)
    target, known = batch.tokens[:, action.start], batch.known[:, action.start]
    once = _sample(training, batch, training.recipe.trained_layout(), Decoding(steps=1))
    assert once.raw_move_logits is not None
    assert once.move_log_probabilities is not None
    raw = torch.from_numpy(once.raw_move_logits.argmax(-1))[:, None]
    log_probabilities = torch.from_numpy(once.move_log_probabilities)
    everyone = torch.ones_like(known)
    out: Tally = {
        "accuracy": (torch.from_numpy(once.tokens[:, action.start]) == target, known),
        "raw legal": (batch.legal.gather(1, raw).squeeze(1), everyone),
        "action loss": (-log_probabilities.gather(1, target[:, None]).squeeze(1), known),
    }
    if once.value_logits is not None:
        error = _value_error(torch.from_numpy(once.value_logits), batch.value.clamp(min=0))
        out["value error"] = (error, batch.value >= 0)
    if decode and layout.predicted > 1:
        tokens = _likeliest(_sample(training, batch, layout, training.recipe.decoding), len(target))
        hit = tokens[:, action.start] == target
        out["decoded accuracy"] = (hit, known)
        state = layout.segment("s", 1)
        if state is not None:  # where the move is right: is every variable of the next state right?
            span = slice(state.start, state.start + len(layout.encoding.slots))
            right = (tokens[:, span] == batch.tokens[:, span]).all(1)
            out["decoded next state right"] = (right, hit & batch.known[:, state.start])
    return out


def _sample(training: Training, batch: Batch, layout: Layout, decoding: Decoding) -> Sample:
    """Denoised records, `decoding.imaginations` next to each other for each record."""
    times = decoding.imaginations
    given = batch.tokens[:, : layout.given_variables].numpy().repeat(times, 0)
    allowed = batch.legal.numpy().repeat(times, 0)
    return training.process.sample(training.net, given, layout, decoding, np.random.default_rng(0), allowed)


def _likeliest(sample: Sample, records: int) -> Tensor:
    """[records, variables]: of the samples of each record the one with the highest joint probability."""
    best = sample.log_probability.reshape(records, -1).argmax(1)
    return torch.from_numpy(sample.tokens.reshape(records, -1, sample.tokens.shape[1])[np.arange(records), best])


def _value(training: Training, batch: Batch) -> Tally:
    """For s-v and sa-v: the error of the one value that is predicted."""
    net, layout = training.net, training.net.layout
    value = layout.segment("v", 0)
    assert value is not None
    logits = net(masked(batch.tokens[:, : layout.given_variables], layout), layout)["value"][:, 0]
    return {"value error": (_value_error(logits, batch.tokens[:, value.start]), batch.known[:, value.start])}


def _value_error(logits: Tensor, bins: Tensor) -> Tensor:
    """[batch] |expected win probability - label|."""
    centres = torch.from_numpy(BIN_VALUES)
    return ((logits.float().softmax(-1) @ centres) - centres[bins]).abs()
