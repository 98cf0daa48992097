"""Autoregressive futures: place after place from left to right, each predicted from the places before it.

Nothing is noised. The trunk is causal and the heads read a place from its left neighbour. Where a place carries several
variables these are independent of each other given the places before. Orders, steps and times have no meaning here.
"""

from __future__ import annotations

import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding, choose, first_move
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
        given: Tensor,
        layout: Layout,
        decoding: Decoding,
        generator: torch.Generator,
        allowed: Tensor | None = None,
        film: bool = False,
    ) -> Sample:
        """Given variables [batch, given variables] -> a whole record, one place for each network call."""
        _require_causal(net)
        decoding.refuse_easy_first("autoregressive")
        batch = len(given)
        x = masked(given, layout)
        joint = torch.zeros(batch, dtype=torch.float64)
        action = layout.segment("a", 0)
        move_place = None if action is None or action.given else action.place
        moves = raw_moves = value = None
        likely = torch.zeros(x.shape)
        likely[:, : layout.given_variables] = 1.0
        frames = [SampleFrame(x.clone(), likely.clone())] if film else []
        # The hidden states so far; the keys and values of earlier places are kept in `past`.
        hidden, past = net.trunk(net.root_places(x, layout))
        if net.root_value is not None:
            value = net.value_logits(hidden, layout).float()
        for place in range(layout.given_places, layout.places):
            for group in layout.groups_at(place):
                logits = net.logits(hidden, layout, (group,), tokens=x)[group.type].float()
                if place == move_place:
                    logits, moves, raw_moves = first_move(logits, allowed, decoding)
                tokens = choose(logits, decoding.temperature, generator)
                x[:, torch.from_numpy(group.variables)] = tokens
                chosen = torch.log_softmax(logits, -1).gather(-1, tokens.unsqueeze(-1))
                joint += chosen.double().sum((1, 2))
                likely[:, torch.from_numpy(group.variables)] = chosen.squeeze(-1).exp()
            if film:
                frames.append(SampleFrame(x.clone(), likely.clone(), moves))
            if place + 1 < layout.places:
                new, past = net.trunk(net.embedding(x, layout, place, place + 1), past)
                hidden = torch.cat([hidden, new], dim=1)
        calls = torch.full((batch,), layout.places - layout.given_places)
        return Sample(x, joint, moves, raw_moves, calls, frames, value, torch.ones_like(calls))


def _require_causal(net: Denoiser) -> None:
    if net.config.trunk.attention != "causal":
        raise UserError(
            f"an autoregressive model needs attention = 'causal', not {net.config.trunk.attention!r}: "
            "set model.trunk.attention"
        )
