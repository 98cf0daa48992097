"""The head of moves: the source-target term reads the right squares of the right state."""

from __future__ import annotations

import chess
import pytest
import torch

from diffusearch.model.heads.move import SourceTarget
from diffusearch.tokens import moves
from diffusearch.tokens.layout import layout


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
    net = make_net()
    head = net.heads["action"].source_target
    assert head is not None
    scores = head(torch.randn(1, 16, 32), torch.randn(1, 32))[0]
    ids = [moves.MOVE_ID["a7a8" + piece] for piece in ("", "n", "b", "r", "q")]
    assert len({round(float(scores[i].detach()), 6) for i in ids}) == 5


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


def test_the_logits_are_the_sum_of_the_terms(make_net, some_tokens) -> None:
    net = make_net(board_features=True)
    head = net.heads["action"]
    for table in head.policy_skip.parameters():
        torch.nn.init.normal_(table)
    tokens = some_tokens(net)
    tokens[:, :68] %= 2  # a root is never noised
    views = []
    head.register_forward_hook(lambda _, inputs, output: views.append((inputs[0], output)))
    with torch.no_grad():
        net(tokens)
        (view, logits), terms = views[0], list(head.terms(views[0][0]))
    assert len(terms) == 3
    assert all(bool(term.any()) for term in terms)
    assert torch.equal(logits, (terms[0] + terms[1]) + terms[2])
    assert not any(term[..., moves.NONE].any() for term in terms[1:])
    assert view.group.type == "action"
