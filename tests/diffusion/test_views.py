"""The views of a record besides evenly spread noise: at a glance, and growing."""

from __future__ import annotations

from dataclasses import replace

import chess
import pytest
import torch

from diffusearch.data.loader import Batch, tokenise
from diffusearch.data.records import Line, replay
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.loss import LossConfig
from diffusearch.diffusion.views import first_state, glance, newest
from diffusearch.tokens.layout import Layout, layout


def some_batch(shape: Layout) -> Batch:
    lines = [Line(chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"]), Line(chess.STARTING_FEN, ["d2d4"])]
    return tokenise(replay(lines, shape.horizon), shape)


def test_growing_noises_one_of_the_last_two_segments_and_counts_it_alone() -> None:
    shape = layout("s-asa", 3, "compact", 8)
    later, last = newest(shape, 400, torch.Generator().manual_seed(0))
    state, action = shape.segments[-2:]
    from_state = later[:, state.start]
    assert 0.4 < from_state.float().mean() < 0.6
    assert not later[:, : state.start].any()
    assert later[:, action.start].all()
    assert torch.equal(last[:, state.start], from_state)
    assert torch.equal(last[:, action.start], ~from_state)
    assert torch.equal(last.sum(1), torch.where(from_state, action.start - state.start, 1))


def test_a_glance_is_the_loss_of_the_first_move_with_nothing_behind(make_net) -> None:
    net = make_net("prefix", horizon=3)
    batch, config = some_batch(net.layout), LossConfig(time_weight="constant", legal_root=True, raw_move=0.0)
    losses = glance(net, batch, net.layout, config, net.read_root(batch.tokens, net.layout))
    near = net.layout.truncated(1)
    alone, _ = Absorbing().loss(net, batch.truncated(near), near, config, torch.Generator())
    assert float(losses.total.detach()) == pytest.approx(float(alone.total.detach()), rel=1e-5)
    other = batch.tokens.clone()
    other[:, near.variables :] = 0  # whatever comes later
    changed = replace(batch, tokens=other)
    again = glance(net, changed, net.layout, config, net.read_root(other, net.layout))
    assert float(again.total.detach()) == float(losses.total.detach())


def test_a_glance_is_added_to_the_loss_of_a_record(make_net) -> None:
    net = make_net("prefix", horizon=3)
    batch = some_batch(net.layout)
    plain, _ = Absorbing().loss(net, batch, net.layout, LossConfig(), torch.Generator().manual_seed(1))
    more, _ = Absorbing().loss(net, batch, net.layout, LossConfig(glance=2.0), torch.Generator().manual_seed(1))
    first = glance(net, batch, net.layout, LossConfig(), net.read_root(batch.tokens, net.layout))
    expected = float(plain.total.detach()) + 2.0 * float(first.total.detach()) / net.layout.predicted
    assert float(more.total.detach()) == pytest.approx(expected, rel=1e-5)
    assert more.by_type["glance"] == pytest.approx(first.by_type["action"])


def test_growing_records_have_the_loss_of_their_newest_segment(make_net) -> None:
    """All records growing: what is clean has no loss, whatever the network says of it."""
    net = make_net("prefix", horizon=2)
    batch = some_batch(net.layout)
    losses, _ = Absorbing().loss(net, batch, net.layout, LossConfig(growing=1.0), torch.Generator().manual_seed(3))
    later, last = newest(net.layout, 2, _after_times(net.layout, 3))
    x = torch.where(later | ~batch.known, torch.from_numpy(net.layout.sizes), batch.tokens)
    logits, total = net(x), 0.0
    for group in net.layout.groups:
        log_p = logits[group.type].log_softmax(-1).gather(-1, batch.tokens[:, group.variables, None])[..., 0]
        counted = (last & batch.known)[:, group.variables]
        total -= float((log_p * counted).sum().detach())
    weights = losses.total * 2 * net.layout.predicted
    assert 0.0 < float(weights.detach()) <= total + 1e-4  # the paper's weights lambda_t are at most 1


def _after_times(shape: Layout, seed: int) -> torch.Generator:
    """The generator as `loss` hands it on: after the times, the even noise and the draw of growing records."""
    generator = torch.Generator().manual_seed(seed)
    torch.rand((), generator=generator)
    torch.randperm(2, generator=generator)
    torch.rand((2, shape.variables), generator=generator)
    torch.rand((2, 1), generator=generator)
    return generator


def test_behind_a_move_that_was_tried_only_the_state_is_learnt(make_net) -> None:
    net = make_net("prefix", horizon=2)
    batch = replace(some_batch(net.layout), tried=torch.tensor([True, True]))
    behind, state = first_state(net.layout)
    x = torch.where(behind, torch.from_numpy(net.layout.sizes), batch.tokens)
    logits, by_hand = net(x), 0.0
    for group in net.layout.groups:
        log_p = logits[group.type].log_softmax(-1).gather(-1, batch.tokens[:, group.variables, None])[..., 0]
        by_hand -= float((log_p * state[group.variables]).sum().detach())
    config = LossConfig(time_weight="constant", legal_root=True, legality=1.0, glance=1.0)
    losses, _ = Absorbing().loss(net, batch, net.layout, config, torch.Generator().manual_seed(3))
    assert float(losses.total.detach()) == pytest.approx(by_hand / (2 * net.layout.predicted), rel=1e-5)
    with pytest.raises(ValueError, match="imagine no state"):
        first_state(layout("s-aa", 2, "compact", 8))


def test_ply_by_ply_the_record_grows(make_net) -> None:
    """Each call computes the places up to its own ply: the first one is the glance."""
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
    sample = Absorbing().sample(net.eval(), given, net.layout, choice, torch.Generator(), batch.legal)
    assert seen == [1, 2, 2, 3, 3]
    near = net.layout.truncated(1)
    x = torch.cat([given, torch.from_numpy(near.sizes[-1:]).expand(2, -1)], dim=1)
    scores = net(x, near)["action"][:, 0].masked_fill(~batch.legal, float("-inf"))
    assert torch.equal(sample.tokens[:, near.given_variables], scores.argmax(-1))
    assert bool((sample.tokens < torch.from_numpy(net.layout.sizes)).all())
