"""Who sees whom: full, prefix and causal attention, with and without a memory; rotary positions."""

from __future__ import annotations

import pytest
import torch

from diffusearch.model.trunk import Shelf, Trunk, TrunkConfig, rotate

KINDS = [{"positions": p, "norm": n, "mlp": m} for p, n, m in (("learned", "layer", "gelu"), ("rope", "rms", "swiglu"))]


@pytest.mark.parametrize("kind", [*KINDS, KINDS[0] | {"grounded": True}])
def test_prefix_root_is_read_once_exactly(make_net, some_tokens, kind: dict[str, object]) -> None:
    """The cached root serves every step: bit for bit what the whole pass gives."""
    net = make_net(attention="prefix", **kind)
    tokens = some_tokens(net)
    with torch.inference_mode():
        root = net.read_root(tokens, net.layout)
        for seed in range(3):
            other = some_tokens(net, seed=seed + 1)
            other[:, : net.layout.given_variables] = tokens[:, : net.layout.given_variables]
            cached, whole = net(other, root=root), net(other)
            assert all(torch.equal(cached[kind], whole[kind]) for kind in whole)


def test_prefix_root_does_not_see_the_future(make_net, some_tokens) -> None:
    net = make_net(attention="prefix")
    tokens, given = some_tokens(net), net.layout.given_places
    changed = some_tokens(net, seed=9)
    changed[:, : net.layout.given_variables] = tokens[:, : net.layout.given_variables]
    one, two = net.hidden(tokens, net.layout), net.hidden(changed, net.layout)
    assert torch.equal(one[:, :given], two[:, :given])
    assert not torch.allclose(one[:, given:], two[:, given:])


@pytest.mark.parametrize("attention", ["full", "prefix", "causal"])
@pytest.mark.parametrize("kind", KINDS)
def test_who_sees_a_change(make_net, some_tokens, attention: str, kind: dict[str, str]) -> None:
    """Change one place in the middle of the future and look which hidden states move."""
    net = make_net(attention=attention, **kind)
    layout, tokens = net.layout, some_tokens(net)
    action = layout.segment("a", 1)
    assert action is not None
    before = layout.segment("s", 1)
    assert before is not None
    changed = tokens.clone()
    changed[:, before.start] = (changed[:, before.start] + 1) % 13
    place = int(layout.place_of[before.start])
    moved = (net.hidden(tokens, layout) - net.hidden(changed, layout)).abs().amax((0, 2)) > 1e-7
    sees = {
        "full": [True] * layout.places,
        "prefix": [False] * layout.given_places + [True] * (layout.places - layout.given_places),
        "causal": [False] * place + [True] * (layout.places - place),
    }
    assert moved.tolist() == sees[attention]


@pytest.mark.parametrize("kind", KINDS)
def test_causal_memory_equals_one_pass(kind: dict[str, str]) -> None:
    torch.manual_seed(0)
    trunk = Trunk(TrunkConfig(layers=2, width=32, heads=2, attention="causal", qk_norm=True, **kind)).eval()
    x = torch.randn(2, 9, 32)
    whole, _ = trunk(x)
    head, past = trunk(x[:, :4])
    middle, past = trunk(x[:, 4:7], past)  # several places at once behind a memory
    one, past = trunk(x[:, 7:8], past)
    last, _ = trunk(x[:, 8:], past)
    assert torch.allclose(whole, torch.cat([head, middle, one, last], 1), atol=1e-5)


def test_rotary_positions_depend_on_distance_only() -> None:
    query, key = torch.randn(1, 1, 1, 16), torch.randn(1, 1, 1, 16)
    near = (rotate(query, 5) * rotate(key, 3)).sum()
    far = (rotate(query, 105) * rotate(key, 103)).sum()
    other = (rotate(query, 5) * rotate(key, 4)).sum()
    assert torch.allclose(near, far, atol=1e-4)
    assert not torch.allclose(near, other, atol=1e-4)
    assert torch.allclose(rotate(query, 7).norm(), query.norm())
    assert torch.equal(rotate(query, 0), query)
    both = torch.cat([query, key], 2)
    assert torch.allclose(rotate(both, 3)[:, :, 1:], rotate(key, 4))


def test_without_positions_learned_there_is_no_table(make_net) -> None:
    assert make_net(positions="rope").embedding.places is None
    assert make_net(positions="learned").embedding.places is not None


def test_dropout_only_in_training(make_net, some_tokens) -> None:
    net = make_net(dropout=0.5)
    tokens = some_tokens(net)
    assert torch.equal(net.hidden(tokens, net.layout), net.hidden(tokens, net.layout))
    net.train()
    assert not torch.equal(net.hidden(tokens, net.layout), net.hidden(tokens, net.layout))


@pytest.mark.parametrize("kind", KINDS)
def test_a_shelf_keeps_the_past_of_every_place_where_it_belongs(kind: dict[str, str]) -> None:
    torch.manual_seed(0)
    trunk = Trunk(TrunkConfig(layers=2, width=32, heads=2, **kind)).eval()
    x = torch.randn(2, 7, 32)
    everywhere = torch.arange(7).expand(2, -1)
    with torch.inference_mode():
        whole, keys = trunk(x)
        shelves = [Shelf(7) for _ in range(2)]
        assert torch.allclose(trunk(x, shelves, everywhere)[0], whole, atol=1e-6)
        some = torch.tensor([[5, 1], [0, 6]])
        again = trunk(x.gather(1, some[..., None].expand(-1, -1, 32)), shelves, some)[0]
        assert torch.allclose(again, whole.gather(1, some[..., None].expand(-1, -1, 32)), atol=1e-5)
        for shelf, (key, value) in zip(shelves, keys, strict=True):
            assert shelf.room is not None
            assert torch.allclose(shelf.room[0], key, atol=1e-5)
            assert torch.allclose(shelf.room[1], value, atol=1e-5)
