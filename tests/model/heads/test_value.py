"""Values: of the record's own variables, and of the root."""

from __future__ import annotations

import pytest
import torch

from diffusearch.errors import UserError
from diffusearch.model.heads.value import RootValue, ValueHead


def test_no_value_without_its_head(make_net, some_tokens) -> None:
    net = make_net()
    with pytest.raises(UserError, match="root_value"):
        net.value_logits(net.hidden(some_tokens(net), net.layout), net.layout)


def test_the_root_value_reads_the_mean_of_the_given_places(make_net) -> None:
    net = make_net(root_value=True)
    assert isinstance(net.root_value, RootValue)
    hidden = torch.randn(2, net.layout.places, 32, generator=torch.Generator().manual_seed(0))
    given, later = hidden.clone(), hidden.clone()
    given[:, 0] += 1.0
    later[:, net.layout.given_places] += 1.0
    logits = net.value_logits(hidden, net.layout)
    assert logits.shape == (2, 128)
    assert torch.equal(net.value_logits(later, net.layout), logits)
    shift = net.root_value.out.weight.sum(1) / net.layout.given_places
    assert torch.allclose(net.value_logits(given, net.layout), logits + shift, rtol=1e-4, atol=1e-5)


def test_value_variables_have_a_head_of_their_own(make_net, some_tokens) -> None:
    net = make_net(paradigm="s-avsav", horizon=2)
    assert isinstance(net.heads["value"], ValueHead)
    assert net(some_tokens(net))["value"].shape == (3, 2, 128)
