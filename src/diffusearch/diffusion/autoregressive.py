"""Autoregressive futures: place after place from left to right, each predicted from the places before it.

Nothing is noised. The trunk is causal and the heads read a place from its left neighbour. Where a place carries several
variables these are independent of each other given the places before. Orders, steps and times have no meaning here.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Bools, Decoding, Floats, Ints, choose, first_move, log_softmax, picked
from diffusearch.diffusion.loss import Losses, cross_entropy
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.diffusion.sampling import Sample, SampleFrame
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch, masked
from diffusearch.tokens.layout import Layout


class Autoregressive:
    """p(record) = product over places of p(place | places before it)."""

    def __init__(self, timesteps: int = 1) -> None:
        self.timesteps = timesteps

    def corrupt(self, tokens: Tensor, layout: Layout, t: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens [batch, variables] -> the same, and what counts in the loss: everything but the root."""
        predicted = torch.ones_like(tokens, dtype=torch.bool)
        predicted[:, : layout.given_variables] = False
        return tokens, predicted

    def loss(
        self, net: Denoiser, batch: Batch, layout: Layout, config: LossConfig, generator: torch.Generator
    ) -> tuple[Losses, Tensor]:
        """Cross-entropy of every known variable given the true places before it, and the hidden states."""
        _require_causal(net)
        times = torch.ones(len(batch.tokens))
        x, predicted = self.corrupt(batch.tokens, layout, times, generator)
        x = torch.where(predicted & ~batch.known, torch.from_numpy(layout.sizes), x)
        hidden = net.hidden(x, layout)
        return cross_entropy(net.logits(hidden, layout, tokens=x), batch, layout, predicted, times, config), hidden

    @torch.inference_mode()
    def sample(
        self,
        net: Denoiser,
        given: Ints,
        layout: Layout,
        decoding: Decoding,
        generator: np.random.Generator,
        allowed: Bools | None = None,
        film: bool = False,
    ) -> Sample:
        """Given variables [batch, given variables] -> a whole record, one place for each network call."""
        _require_causal(net)
        decoding.refuse_easy_first("autoregressive")
        batch = len(given)
        tokens = masked(torch.from_numpy(given), layout)
        x: Ints = tokens.numpy()  # the same memory
        joint = np.zeros(batch)
        action = layout.segment("a", 0)
        move_place = None if action is None or action.given else action.place
        moves = raw_moves = value = None
        likely = np.zeros(x.shape, dtype=np.float32)
        likely[:, : layout.given_variables] = 1.0
        frames = [SampleFrame(x.copy(), likely.copy())] if film else []
        # The hidden states so far; the keys and values of earlier places are kept in `past`.
        hidden, past = net.trunk(net.root_places(tokens, layout))
        if net.root_value is not None:
            value = net.value_logits(hidden, layout).float().numpy()
        for place in range(layout.given_places, layout.places):
            for group in layout.groups_at(place):
                logits: Floats = net.logits(hidden, layout, (group,), tokens=tokens)[group.type].float().numpy()
                if place == move_place:
                    logits, moves, raw_moves = first_move(logits, allowed, decoding)
                token = choose(logits, decoding.temperature, generator)
                x[:, group.variables] = token
                chosen = picked(log_softmax(logits), token)
                joint += chosen.sum(1, dtype=np.float64)
                likely[:, group.variables] = np.exp(chosen)
            if film:
                frames.append(SampleFrame(x.copy(), likely.copy(), moves))
            if place + 1 < layout.places:
                new, past = net.trunk(net.embedding(tokens, layout, place, place + 1), past)
                hidden = torch.cat([hidden, new], dim=1)
        calls = np.full(batch, layout.places - layout.given_places)
        return Sample(x, joint, moves, raw_moves, calls, frames, value, np.ones_like(calls))


def _require_causal(net: Denoiser) -> None:
    if net.config.trunk.attention != "causal":
        raise UserError(
            f"an autoregressive model needs attention = 'causal', not {net.config.trunk.attention!r}: "
            "set model.trunk.attention"
        )
