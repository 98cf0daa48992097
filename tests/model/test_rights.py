"""Rights of imagined states: nothing before training, and soon learnt from the squares that moves touch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from diffusearch.data.loader import tokenise
from diffusearch.data.records import Line, replay
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.rights import Rights
from diffusearch.tokens import states

ROOKS = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP1b1/2N2N2/PPPQ1PPP/R3K2R w KQkq - 7 30"
TAKEN = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"  # a rook that takes a rook takes a right, and loses one


def test_fresh_rights_say_nothing() -> None:
    before = torch.arange(16)[None]
    assert not Rights(16)(before, torch.full((1, 16), 4), torch.full((1, 16), 68)).any()


def test_rights_need_a_state_before(make_net: Callable[..., Denoiser]) -> None:
    with pytest.raises(UserError, match="grounded = true"):
        make_net(rights=True)


def test_rights_learn_which_squares_matter(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, rights=True, attention="prefix", horizon=2, patch=8)
    lines = [Line(ROOKS, [uci]) for uci in ("e1g1", "e1e2", "h1g1", "a1b1", "a2a3", "d2e3")]
    lines += [Line(TAKEN, [uci]) for uci in ("a1a8", "h1h8", "h1h2")]
    layout = net.layout
    clean = tokenise(replay(lines, 2), layout).tokens
    state = layout.segment("s", 1)
    assert state is not None
    noised = clean.clone()
    noised[:, state.start :] = torch.from_numpy(layout.sizes[state.start :])
    target = clean[:, state.start + states.CASTLING]
    assert net.heads.rights is not None
    optimiser = torch.optim.Adam(net.heads.rights.parameters(), lr=1e-2)
    unmoved = net(noised)["castling"][:, 0].argmax(-1)
    assert torch.equal(unmoved, clean[:, states.CASTLING])  # at first every right stays
    assert not torch.equal(unmoved, target)
    for _ in range(60):
        optimiser.zero_grad()
        F.cross_entropy(net(noised)["castling"][:, 0], target).backward()
        optimiser.step()
    assert torch.equal(net(noised)["castling"][:, 0].argmax(-1), target)
