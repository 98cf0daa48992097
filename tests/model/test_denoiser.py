"""The network as a whole: its size, its gradients, and what cannot be built."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args, get_type_hints

import pytest
import torch

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.tokens.encodings import ENCODINGS
from diffusearch.tokens.layout import PARADIGMS, layout


def test_the_papers_model_has_seven_million_parameters() -> None:
    net = Denoiser(ModelConfig())
    assert sum(p.numel() for p in net.parameters()) == pytest.approx(7e6, rel=0.05)
    assert net.layout.places == 312
    names = {name.split(".")[0] for name, _ in net.named_parameters()}
    assert names == {"embedding", "trunk"}  # the token table itself is the head


@pytest.mark.parametrize("paradigm", PARADIGMS)
@pytest.mark.parametrize(
    ("encoding", "patch", "head"),
    [("paper", 1, "vocabulary"), ("compact", 1, "vocabulary"), ("paper", 4, "typed"), ("compact", 8, "squares")],
)
def test_logits_of_every_layout(make_net, some_tokens, paradigm: str, encoding: str, patch: int, head: str) -> None:
    net = make_net(paradigm=paradigm, encoding=encoding, patch=patch, head=head, horizon=3)
    for horizon in (1, 3):
        shape = net.layout.truncated(horizon)
        logits = net(some_tokens(net)[:, : shape.variables], shape)
        assert {kind: tuple(out.shape) for kind, out in logits.items()} == {
            group.type: (3, len(group.variables), group.size) for group in shape.groups
        }


@pytest.mark.parametrize("head", ["vocabulary", "typed", "squares"])
@pytest.mark.parametrize("attention", ["full", "prefix", "causal"])
def test_gradients_flow_everywhere(make_net, some_tokens, head: str, attention: str) -> None:
    patch, encoding = (1, "paper") if head == "vocabulary" else (8, "compact")
    net = make_net(head=head, attention=attention, patch=patch, encoding=encoding, root_value=True)
    hidden = net.hidden(some_tokens(net), net.layout)
    total = sum(out.float().log_softmax(-1)[..., 0].sum() for out in net.logits(hidden, net.layout).values())
    (total + net.value_logits(hidden, net.layout).log_softmax(-1)[:, 0].sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name


def test_sampling_first_leaves_the_network_trainable(make_net, some_tokens) -> None:
    net = make_net(attention="prefix")
    tokens = some_tokens(net)
    with torch.inference_mode():
        net(tokens)
    sum(out.sum() for out in net(tokens).values()).backward()


def test_vectors_and_tokens_take_the_same_way(make_net, some_tokens) -> None:
    for attention in ("full", "prefix"):
        net = make_net(attention=attention, board_features=True, feature_width=4)
        torch.nn.init.normal_(net.attack_features.lines)
        tokens = some_tokens(net)
        tokens[:, :64] %= 13  # a root is never noised
        vectors = net.embedding.vectors(tokens, net.layout)
        by_vectors, by_tokens = net.hidden_of_vectors(vectors, net.layout, tokens), net.hidden(tokens, net.layout)
        assert torch.allclose(by_vectors, by_tokens, rtol=1e-4, atol=1e-5 * float(by_tokens.abs().max().detach()))


@pytest.mark.parametrize(
    ("config", "word"),
    [
        (ModelConfig(patch=4), "vocabulary"),
        (ModelConfig(trunk=TrunkConfig(width=30, heads=4)), "30.*multiple of 8"),
        (ModelConfig(board_features=True), "board_features.*compact"),
        (ModelConfig(residual_state=True), "residual_state.*prefix"),
        (ModelConfig(paradigm="x"), "x"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_built_is_refused(config: ModelConfig, word: str) -> None:
    with pytest.raises(UserError, match=word):
        Denoiser(config)


def test_the_choices_are_those_that_layouts_know() -> None:
    hints = get_type_hints(ModelConfig)
    assert get_args(hints["paradigm"]) == tuple(PARADIGMS)
    assert set(get_args(hints["encoding"])) == set(ENCODINGS)
    for patch in get_args(hints["patch"]):
        assert layout("s-a", 1, "compact", patch).patch == patch


@pytest.mark.parametrize(
    ("paradigm", "head", "skip"),
    [("s-asa", "squares", True), ("s-a", "typed", True), ("s-a", "vocabulary", False), ("s-v", "squares", False)],
)
def test_board_features_are_built_where_they_apply(make_net, paradigm: str, head: str, *, skip: bool) -> None:
    net = make_net(paradigm=paradigm, head=head, patch=1, board_features=True)
    assert net.attack_features is not None
    assert net.heads.reads_boards == skip
    assert any("policy_skip.king_exposure" in name for name, _ in net.named_parameters()) == skip


def test_self_conditioning_reads_the_estimate_at_the_future_places(
    make_net: Callable[..., Denoiser], some_tokens: Callable[..., torch.Tensor]
) -> None:
    for attention in ("full", "prefix"):
        net = make_net(attention=attention, self_conditioning=True)
        tokens, one, two = (some_tokens(net, seed=seed) for seed in range(3))
        plain = net.hidden(tokens, net.layout)
        assert torch.equal(net.hidden(tokens, net.layout, estimate=one), plain)  # at the start it changes nothing
        assert net.self_conditioning is not None
        with torch.no_grad():
            net.self_conditioning.weight.add_(torch.eye(32))
        given = net.layout.given_variables
        same_root = torch.cat([two[:, :given], one[:, given:]], dim=1)
        found = [net.hidden(tokens, net.layout, estimate=estimate) for estimate in (one, same_root, two)]
        assert torch.equal(found[0], found[1])  # the root's tokens are known: their estimate is not read
        assert not torch.allclose(found[0], found[2])
        assert not torch.allclose(found[0], plain)
