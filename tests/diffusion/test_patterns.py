"""Noising patterns besides evenly spread noise: root policy, ply by ply, and the state after a random move."""

from __future__ import annotations

from dataclasses import replace

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.records import Line, replay
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.loss import LossConfig
from diffusearch.diffusion.patterns import first_state, ply_by_ply, root_policy
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch, tokenise
from diffusearch.tokens.layout import Layout, layout


def some_batch(shape: Layout) -> Batch:
    lines = [Line(chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"]), Line(chess.STARTING_FEN, ["d2d4"])]
    return tokenise(replay(lines, shape.horizon), shape)


def test_ply_by_ply_noises_one_of_the_last_two_segments_and_counts_it_alone() -> None:
    shape = layout("s-asa", 3, "compact", 8)
    later, last = ply_by_ply(shape, 400, torch.Generator().manual_seed(0))
    state, action = shape.segments[-2:]
    from_state = later[:, state.start]
    assert 0.4 < from_state.float().mean() < 0.6
    assert not later[:, : state.start].any()
    assert later[:, action.start].all()
    assert torch.equal(last[:, state.start], from_state)
    assert torch.equal(last[:, action.start], ~from_state)
    assert torch.equal(last.sum(1), torch.where(from_state, action.start - state.start, 1))


def test_the_root_policy_loss_is_that_of_the_first_move_with_no_future(make_net) -> None:
    net = make_net("prefix", horizon=3)
    batch, config = some_batch(net.layout), LossConfig(time_weight="constant", legal_root=True, raw_move=0.0)
    losses = root_policy(net, batch, net.layout, config, net.read_root(batch.tokens, net.layout))
    near = net.layout.truncated(1)
    alone, _ = Absorbing().loss(net, batch.truncated(near), near, config, torch.Generator())
    assert float(losses.total.detach()) == pytest.approx(float(alone.total.detach()), rel=1e-5)
    other = batch.tokens.clone()
    other[:, near.variables :] = 0  # the future does not matter
    changed = replace(batch, tokens=other)
    again = root_policy(net, changed, net.layout, config, net.read_root(other, net.layout))
    assert float(again.total.detach()) == float(losses.total.detach())


def test_the_root_policy_loss_is_added_to_the_loss_of_a_record(make_net) -> None:
    net = make_net("prefix", horizon=3)
    batch = some_batch(net.layout)
    plain, _ = Absorbing().loss(net, batch, net.layout, LossConfig(), torch.Generator().manual_seed(1))
    more, _ = Absorbing().loss(net, batch, net.layout, LossConfig(root_policy=2.0), torch.Generator().manual_seed(1))
    first = root_policy(net, batch, net.layout, LossConfig(), net.read_root(batch.tokens, net.layout))
    expected = float(plain.total.detach()) + 2.0 * float(first.total.detach()) / net.layout.predicted
    assert float(more.total.detach()) == pytest.approx(expected, rel=1e-5)
    assert more.by_type["root_policy"] == pytest.approx(first.by_type["action"])


def test_ply_by_ply_records_have_the_loss_of_their_last_state_or_their_last_move(make_net) -> None:
    """All records ply by ply, all times with weight 1: each loss is one of two that can be worked out by hand."""
    net = make_net("prefix", horizon=2)
    batch = some_batch(net.layout)
    choices = [segment_losses(net, batch, segment.start) for segment in net.layout.segments[-2:]]
    possible = {
        (first, second): float(choices[first][0] + choices[second][1]) / (2 * net.layout.predicted)
        for first in range(2)
        for second in range(2)
    }
    found = set()
    config = LossConfig(time_weight="constant", ply_by_ply=1.0)
    for seed in range(40):
        losses, _ = Absorbing().loss(net, batch, net.layout, config, torch.Generator().manual_seed(seed))
        total = float(losses.total.detach())
        nearest = min(possible, key=lambda choice: abs(possible[choice] - total))
        assert total == pytest.approx(possible[nearest], rel=1e-4)
        found.add(nearest)
    assert found == set(possible)


def segment_losses(net: Denoiser, batch: Batch, start: int) -> torch.Tensor:
    """For each record the cross-entropy of the segment at a variable, with everything from there on masked."""
    shape = net.layout
    end = next((segment.start for segment in shape.segments if segment.start > start), shape.variables)
    noised = (torch.arange(shape.variables) >= start) | ~batch.known
    logits, total = net(torch.where(noised, torch.from_numpy(shape.sizes), batch.tokens)), torch.zeros(2)
    for group in shape.groups:
        log_p = logits[group.type].log_softmax(-1).gather(-1, batch.tokens[:, group.variables, None])[..., 0]
        inside = torch.from_numpy((group.variables >= start) & (group.variables < end))
        total -= (log_p * (inside & batch.known[:, group.variables])).sum(1).detach()
    return total


def test_after_a_random_move_only_the_state_is_trained(make_net) -> None:
    net = make_net("prefix", horizon=2)
    batch = replace(some_batch(net.layout), random_move=torch.tensor([True, True]))
    later, state = first_state(net.layout)
    x = torch.where(later, torch.from_numpy(net.layout.sizes), batch.tokens)
    logits, by_hand = net(x), 0.0
    for group in net.layout.groups:
        log_p = logits[group.type].log_softmax(-1).gather(-1, batch.tokens[:, group.variables, None])[..., 0]
        by_hand -= float((log_p * state[group.variables]).sum().detach())
    config = LossConfig(time_weight="constant", legal_root=True, legality=1.0, root_policy=1.0)
    losses, _ = Absorbing().loss(net, batch, net.layout, config, torch.Generator().manual_seed(3))
    assert float(losses.total.detach()) == pytest.approx(by_hand / (2 * net.layout.predicted), rel=1e-5)
    with pytest.raises(ValueError, match="predict no state"):
        first_state(layout("s-aa", 2, "compact", 8))


def test_ply_by_ply_the_record_grows(make_net) -> None:
    """Each call computes the places up to its own ply: the first one only the root and its move."""
    net = make_net("prefix", horizon=3)
    seen: list[int] = []
    hidden = net.hidden

    def watched(tokens: torch.Tensor, shape: Layout, root: object = None) -> torch.Tensor:
        seen.append(shape.horizon)
        return hidden(tokens, shape, root)  # type: ignore[arg-type]

    net.hidden = watched  # type: ignore[method-assign]
    batch = some_batch(net.layout)
    given = batch.tokens[:, : net.layout.given_variables]
    choice = Decoding(steps=20, order="plies")
    sample = Absorbing().sample(
        net.eval(), given.numpy(), net.layout, choice, np.random.default_rng(0), batch.legal.numpy()
    )
    assert seen == [1, 2, 2, 3, 3]
    near = net.layout.truncated(1)
    x = torch.cat([given, torch.from_numpy(near.sizes[-1:]).expand(2, -1)], dim=1)
    scores = net(x, near)["action"][:, 0].masked_fill(~batch.legal, float("-inf"))
    assert np.array_equal(sample.tokens[:, near.given_variables], scores.argmax(-1).numpy())
    assert bool((sample.tokens < net.layout.sizes).all())
