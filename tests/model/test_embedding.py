"""Token embeddings: what a place can tell apart, positions, and the vocabulary that is kept in play."""

from __future__ import annotations

from collections.abc import Callable

import torch

from diffusearch.model.denoiser import Denoiser


def test_a_place_tells_its_squares_apart(make_net, some_tokens) -> None:
    """A knight on a1 and one on b1 of the same place are different positions."""
    for encoding in ("paper", "compact"):
        net = make_net(encoding=encoding, patch=4, head="typed")
        slots = net.layout.state_places[0]
        tokens = torch.zeros((2, net.layout.variables), dtype=torch.long)
        tokens[0, slots[0]], tokens[1, slots[1]] = 2, 2
        hidden = net.hidden(tokens, net.layout)
        assert not torch.allclose(hidden[0], hidden[1])


def test_rotary_positions_need_no_table(make_net) -> None:
    assert make_net(positions="rope").embedding.places is None
    assert make_net(positions="learned").embedding.places is not None


def test_the_vocabulary_that_play_keeps_follows_the_weights(make_net: Callable[..., Denoiser]) -> None:
    embedding = make_net(residual_state=True, attention="prefix", horizon=2, patch=8).embedding
    squares = embedding.added["action"].squares
    with torch.inference_mode():
        first = embedding.vocabulary()
        assert embedding.vocabulary() is first
    assert embedding.vocabulary().requires_grad  # training makes its own
    optimiser = torch.optim.SGD(embedding.parameters(), lr=1.0)
    for weights in (embedding.table, squares):
        optimiser.zero_grad()
        weights.sum().backward()
        optimiser.step()
        with torch.no_grad():
            kept = embedding.vocabulary()
        assert not torch.equal(kept, first)
        assert torch.equal(kept, embedding.vocabulary())
        first = kept
    embedding.double()
    with torch.no_grad():
        assert embedding.vocabulary().dtype == torch.float64
