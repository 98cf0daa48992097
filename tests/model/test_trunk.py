"""The transformer: which places attend to which, with and without a cache of keys and values; rotary positions."""

from __future__ import annotations

import pytest
import torch

from diffusearch.model.kv_cache import LayerCache
from diffusearch.model.trunk import Trunk, TrunkConfig, gelu, rotate, trained_gelu

POSITIONS = ["learned", "rope"]


@pytest.mark.parametrize("kind", [{"positions": "learned"}, {"positions": "rope"}, {"residual_state": True}])
def test_prefix_root_is_read_once_exactly(make_net, some_tokens, kind: dict[str, object]) -> None:
    """The cached root serves every step: bit for bit the result of the whole pass."""
    net = make_net(attention="prefix", **kind)
    tokens = some_tokens(net)
    with torch.inference_mode():
        root = net.read_root(tokens, net.layout)
        for seed in range(3):
            other = some_tokens(net, seed=seed + 1)
            other[:, : net.layout.given_variables] = tokens[:, : net.layout.given_variables]
            cached, whole = net(other, root=root), net(other)
            assert all(torch.equal(cached[kind], whole[kind]) for kind in whole)


def test_prefix_root_does_not_attend_to_the_future(make_net, some_tokens) -> None:
    net = make_net(attention="prefix")
    tokens, given = some_tokens(net), net.layout.given_places
    changed = some_tokens(net, seed=9)
    changed[:, : net.layout.given_variables] = tokens[:, : net.layout.given_variables]
    one, two = net.hidden(tokens, net.layout), net.hidden(changed, net.layout)
    assert torch.equal(one[:, :given], two[:, :given])
    assert not torch.allclose(one[:, given:], two[:, given:])


@pytest.mark.parametrize("attention", ["full", "prefix", "causal"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_which_places_see_a_change(make_net, some_tokens, attention: str, positions: str) -> None:
    """Change one place in the middle of the future: which hidden states change?"""
    net = make_net(attention=attention, positions=positions)
    layout, tokens = net.layout, some_tokens(net)
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


@pytest.mark.parametrize("positions", POSITIONS)
def test_causal_attention_with_a_past_equals_one_pass(positions: str) -> None:
    torch.manual_seed(0)
    trunk = Trunk(TrunkConfig(layers=2, width=32, heads=2, attention="causal", positions=positions)).eval()  # type: ignore[arg-type]
    trunk.double()
    x = torch.randn(2, 9, 32, dtype=torch.float64)
    whole, _ = trunk(x)
    head, past = trunk(x[:, :4])
    middle, past = trunk(x[:, 4:7], past)  # several places at once after a past
    one, past = trunk(x[:, 7:8], past)
    last, _ = trunk(x[:, 8:], past)
    assert torch.allclose(whole, torch.cat([head, middle, one, last], 1), rtol=1e-6, atol=1e-8)


def test_rotary_positions_depend_on_distance_only() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, 1, 1, 16, dtype=torch.float64, generator=generator) for _ in range(2))
    near = (rotate(query, 5) * rotate(key, 3)).sum()
    far = (rotate(query, 105) * rotate(key, 103)).sum()
    other = (rotate(query, 5) * rotate(key, 4)).sum()
    assert torch.allclose(near, far, rtol=1e-4)  # angles are float32
    assert not torch.allclose(near, other, rtol=1e-3)
    assert torch.allclose(rotate(query, 7).norm(), query.norm(), rtol=1e-6)
    assert torch.equal(rotate(query, 0), query)
    both = torch.cat([query, key], 2)
    assert torch.equal(rotate(both, 3)[:, :, 1:], rotate(key, 4))


def test_dropout_only_in_training(make_net, some_tokens) -> None:
    net = make_net(dropout=0.5)
    tokens = some_tokens(net)
    assert torch.equal(net.hidden(tokens, net.layout), net.hidden(tokens, net.layout))
    net.train()
    assert not torch.equal(net.hidden(tokens, net.layout), net.hidden(tokens, net.layout))


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_layer_cache_keeps_keys_and_values_by_place(positions: str) -> None:
    torch.manual_seed(0)
    trunk = Trunk(TrunkConfig(layers=2, width=32, heads=2, positions=positions)).eval().double()  # type: ignore[arg-type]
    x = torch.randn(2, 7, 32, dtype=torch.float64)
    everywhere = torch.arange(7).expand(2, -1)
    with torch.inference_mode():
        whole, keys = trunk(x)
        caches = [LayerCache(7) for _ in range(2)]
        assert torch.allclose(trunk(x, caches, everywhere)[0], whole, rtol=1e-6, atol=1e-8)
        some = torch.tensor([[5, 1], [0, 6]])
        again = trunk(x.gather(1, some[..., None].expand(-1, -1, 32)), caches, some)[0]
        assert torch.allclose(again, whole.gather(1, some[..., None].expand(-1, -1, 32)), rtol=1e-6, atol=1e-8)
        for cache, layer in zip(caches, keys, strict=True):
            assert cache.keys_values is not None
            for kept, computed in zip(cache.keys_values, layer, strict=True):
                assert torch.allclose(kept, computed, rtol=1e-6, atol=1e-8)


def test_gelu_is_the_tanh_formula() -> None:
    x = torch.linspace(-12, 12, 1001, dtype=torch.float64)
    assert torch.allclose(gelu(x), torch.nn.functional.gelu(x, approximate="tanh"), rtol=1e-12, atol=1e-12)
    assert torch.equal(x, torch.linspace(-12, 12, 1001, dtype=torch.float64))


def test_gelu_of_a_training_in_bf16_is_near_the_tanh_formula() -> None:
    x = torch.linspace(-6, 6, 2001).bfloat16()
    formula = torch.nn.functional.gelu(x.double(), approximate="tanh")
    assert torch.all((trained_gelu(x).double() - formula).abs() <= 5e-4 + formula.abs() * 2**-8)
    assert torch.equal(trained_gelu(x.float()), torch.nn.functional.gelu(x.float(), approximate="tanh"))
