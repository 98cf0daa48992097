"""The network as a whole: its size, its gradients, its heads, and what cannot be built."""

from __future__ import annotations

import chess
import pytest
import torch

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.heads import SourceTarget
from diffusearch.model.trunk import TrunkConfig
from diffusearch.tokens import moves
from diffusearch.tokens.layout import PARADIGMS, layout


def test_the_papers_model_has_seven_million_parameters() -> None:
    net = Denoiser(ModelConfig())
    assert sum(p.numel() for p in net.parameters()) == pytest.approx(7e6, rel=0.05)
    assert net.layout.places == 312
    assert net.heads.source_target is None
    assert not hasattr(net.heads, "linear")  # the token table itself is the head


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
    net = make_net(head=head, attention=attention, patch=patch, encoding=encoding, root_value=True, qk_norm=True)
    hidden = net.hidden(some_tokens(net), net.layout)
    total = sum(out.float().log_softmax(-1)[..., 0].sum() for out in net.logits(hidden, net.layout).values())
    (total + net.value_logits(hidden, net.layout).log_softmax(-1)[:, 0].sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name


def test_a_place_tells_its_squares_apart(make_net, some_tokens) -> None:
    """A knight on a1 and one on b1 of the same place are different positions."""
    for encoding in ("paper", "compact"):
        net = make_net(encoding=encoding, patch=4, head="typed")
        slots = net.layout.state_places[0]
        tokens = torch.zeros((2, net.layout.variables), dtype=torch.long)
        tokens[0, slots[0]], tokens[1, slots[1]] = 2, 2
        hidden = net.hidden(tokens, net.layout)
        assert not torch.allclose(hidden[0], hidden[1])


@pytest.mark.parametrize("patch", [1, 2, 4, 8])
@pytest.mark.parametrize("encoding", ["paper", "compact"])
def test_a_move_is_scored_by_the_squares_it_names(encoding: str, patch: int) -> None:
    """Light up the hidden state of one square: only moves from it (or to it) change, and they are the right ones."""
    shape = layout("s-a", 1, encoding, patch)
    width = patch * 2
    head = SourceTarget(shape, width, 2)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.zero_()
        # output number p of a place is fed by dimensions 2p and 2p + 1 of its hidden state, for source and target
        head.source.weight.copy_(torch.eye(width))
        head.target.weight.copy_(torch.eye(width))
    for source, target in ((chess.E2, chess.E4), (chess.G8, chess.F6), (chess.A7, chess.B8), (chess.H1, chess.A1)):
        squares = torch.zeros(1, 64 // patch, width)
        for square in (source, target):
            slot = int((torch.from_numpy(shape.encoding.squares) == square).nonzero())
            place = int(shape.place_of[slot])
            squares[0, place, 2 * shape.state_places[place].index(slot) + 0] = 1.0
        scores = head(squares, torch.zeros(1, width))[0]
        lit = {moves.MOVES[i] for i in torch.nonzero(scores).flatten().tolist()}
        named = {chess.square_name(square) for square in (source, target)}
        assert lit == {uci for uci in moves.MOVES if {uci[:2], uci[2:4]} == named}


def test_promotions_differ_by_the_piece(make_net) -> None:
    head = make_net().heads.source_target
    assert head is not None
    shape = make_net().layout
    scores = head(torch.randn(1, 16, 32), torch.randn(1, 32))[0]
    ids = [moves.MOVE_ID["a7a8" + piece] for piece in ("", "n", "b", "r", "q")]
    assert len({round(float(scores[i].detach()), 6) for i in ids}) == 5
    assert shape.patch == 4


def test_an_action_reads_the_state_it_is_played_in(make_net, some_tokens) -> None:
    """The head of a_1 points into the squares of s_1, not of the root."""
    net = make_net(patch=8)
    shape = net.layout
    hidden = torch.randn(1, shape.places, 32)
    before = net.logits(hidden, shape)["action"]
    for ply in (0, 1):
        state = shape.segment("s", ply)
        assert state is not None
        changed = hidden.clone()
        changed[:, state.place : state.place + 8] += 1.0
        moved = (net.logits(changed, shape)["action"] - before).abs().amax((0, 2)) > 1e-6
        assert moved.tolist() == [ply == 0, ply == 1]


def test_sampling_first_leaves_the_network_trainable(make_net, some_tokens) -> None:
    net = make_net(attention="prefix")
    tokens = some_tokens(net)
    with torch.inference_mode():
        net(tokens)
    sum(out.sum() for out in net(tokens).values()).backward()


def test_vectors_and_tokens_take_the_same_way(make_net, some_tokens) -> None:
    for attention in ("full", "prefix"):
        net = make_net(attention=attention, sight=4)
        torch.nn.init.normal_(net.sight.lines)
        tokens = some_tokens(net)
        tokens[:, :64] %= 13  # a root is never noised
        vectors = net.embedding.vectors(tokens, net.layout)
        by_vectors = net.hidden_of_vectors(vectors, net.layout, tokens)
        assert torch.allclose(by_vectors, net.hidden(tokens, net.layout), atol=1e-5)


@pytest.mark.parametrize(
    ("config", "word"),
    [
        (ModelConfig(head="big"), "big"),
        (ModelConfig(patch=4), "vocabulary"),
        (ModelConfig(trunk=TrunkConfig(attention="odd")), "odd"),
        (ModelConfig(trunk=TrunkConfig(width=30, heads=4)), "30"),
        (ModelConfig(trunk=TrunkConfig(mlp="relu")), "relu"),
        (ModelConfig(paradigm="x"), "x"),
    ],
)
def test_what_cannot_be_built_is_refused(config: ModelConfig, word: str) -> None:
    with pytest.raises(UserError, match=word):
        Denoiser(config)


def test_no_value_without_its_head(make_net, some_tokens) -> None:
    net = make_net()
    with pytest.raises(UserError, match="root_value"):
        net.value_logits(net.hidden(some_tokens(net), net.layout), net.layout)
