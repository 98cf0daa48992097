"""Imagined states that start from the root: what `grounded` does before anything is learnt."""

from __future__ import annotations

from collections.abc import Callable

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.loader import tokenise
from diffusearch.data.records import Line, replay
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens import moves, states

FEN = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP1b1/2N2N2/PPPQ1PPP/R3K2R {} KQkq - 7 30"


@pytest.mark.parametrize("side", ["w", "b"])
def test_fresh_model_imagines_that_nothing_moves(make_net: Callable[..., Denoiser], side: str) -> None:
    net = make_net(grounded=True, attention="prefix", horizon=3, patch=8)
    batch = tokenise(replay([Line(FEN.format(side), [])], 3), net.layout)
    masked = torch.where(
        torch.arange(net.layout.variables) < net.layout.given_variables,
        batch.tokens,
        torch.from_numpy(net.layout.sizes),
    )
    logits = net(masked)
    found = masked.clone()
    for group in net.layout.groups:
        found[:, group.variables] = logits[group.type].argmax(-1)
    root = masked[0, : states.WIDTH].numpy()
    for ply in (1, 2):
        segment = net.layout.segment("s", ply)
        assert segment is not None
        state = found[0, segment.start : segment.start + states.WIDTH].numpy()
        assert (state[:64] == root[:64]).all()
        assert state[states.CASTLING] == root[states.CASTLING]
        assert (state[states.SIDE], state[states.EN_PASSANT], state[states.CLOCK]) == (ply % 2, 0, 7 + ply)


def test_paper_encoding_copies_characters_and_changes_sides(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", encoding="paper", patch=1, head="typed")
    root, factor, summand = net.layout.unmoved
    tokens = np.random.default_rng(0).integers(0, 2, net.layout.variables)
    segment = net.layout.segment("s", 1)
    assert segment is not None
    span = slice(segment.start, segment.start + 77)
    later = tokens[root[span]] * factor[span] + summand[span]
    assert later[64] == 1 - tokens[64]
    assert (np.delete(later, 64) == np.delete(tokens[:77], 64)).all()


def test_copied_clock_stays_in_its_vocabulary(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", horizon=3, patch=8)
    board = chess.Board("8/8/8/4k3/8/8/4P3/4K3 w - - 255 200")
    batch = tokenise(replay([Line(board.fen(), [])], 3), net.layout)
    assert torch.isfinite(net(batch.tokens)["clock"]).all()


def test_copy_asks_for_the_root(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix")
    tokens = torch.zeros(1, net.layout.variables, dtype=torch.int64)
    with pytest.raises(ValueError, match="root's tokens"):
        net.logits(net.hidden(tokens, net.layout), net.layout)


def test_carry_reaches_imagined_states_and_nothing_else(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", patch=8)
    places = net.layout.root_place
    assert sorted(places[places >= 0]) == list(range(9))
    with pytest.raises(UserError, match="prefix"):
        make_net(grounded=True, attention="full")


def test_moves_share_the_vectors_of_their_squares(make_net: Callable[..., Denoiser]) -> None:
    embedding = make_net(grounded=True, attention="prefix").embedding
    assert embedding.squares is not None
    with torch.no_grad():
        embedding.table.zero_()
    rows = embedding.type_rows("action", moves.VOCABULARY)
    e2e4, e2e3, d2d4 = (rows[moves.MOVE_ID[uci]] for uci in ("e2e4", "e2e3", "d2d4"))
    difference = embedding.squares[64 + chess.E4] - embedding.squares[64 + chess.E3]
    assert torch.allclose(e2e4 - e2e3, difference)
    assert not torch.allclose(e2e4, d2d4)
    assert not rows[moves.NONE].any()
