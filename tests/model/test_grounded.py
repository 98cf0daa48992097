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
from diffusearch.model.grounding import follow_states
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


@pytest.mark.parametrize("encoding", ["compact", "paper"])
@pytest.mark.parametrize(
    ("fen", "uci"),
    [
        (FEN.format("w"), "f3e5"),
        (FEN.format("b"), "b4c3"),
        ("8/1P5k/8/8/8/8/p6K/1N6 w - - 0 1", "b7b8n"),
        ("8/1P5k/8/8/8/8/p6K/1N6 b - - 0 1", "a2b1q"),
    ],
)
def test_fresh_model_believes_what_a_move_says(
    make_net: Callable[..., Denoiser], encoding: str, fen: str, uci: str
) -> None:
    net = make_net(
        grounded=True, attention="prefix", encoding=encoding, patch=1, head="typed", paradigm="s-asa", horizon=2
    )
    layout = net.layout
    clean = tokenise(replay([Line(fen, [uci])], 2), layout).tokens
    segment = layout.segment("s", 1)
    assert segment is not None
    noised = clean.clone()
    noised[:, segment.start :] = torch.from_numpy(layout.sizes[segment.start :])
    logits = net(noised)
    found = noised.clone()
    for group in layout.groups:
        found[:, group.variables] = logits[group.type].argmax(-1)
    board = slice(segment.start, segment.start + 64)
    wrong = np.flatnonzero((found[0, board] != clean[0, board]).numpy())
    left = int(np.argsort(layout.encoding.squares)[_in_frame(uci[:2], fen, turned=encoding == "compact")])
    assert set(wrong.tolist()) <= {left}  # something else than was there; what, is learnt
    assert found[0, segment.start + left] != clean[0, left]


def _in_frame(square: str, fen: str, *, turned: bool) -> int:
    """The square as a record's frame names it: seen by the mover, or as it is."""
    return chess.parse_square(square) ^ (56 if turned and not chess.Board(fen).turn else 0)


def test_paper_encoding_copies_characters_and_changes_sides(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", encoding="paper", patch=1, head="typed", horizon=3)
    root = torch.randint(0, 2, (4, 77), generator=torch.Generator().manual_seed(0))
    before, known = follow_states(root, net.layout)
    assert [(state[:, 64] == root[:, 64]).tolist() for state in before] == [[True] * 4, [False] * 4, [True] * 4]
    for state in known:
        assert torch.equal(torch.cat([state[:, :64], state[:, 65:]], 1), torch.cat([root[:, :64], root[:, 65:]], 1))


def test_what_is_visible_is_copied_on_and_what_is_noised_is_taken_from_before(
    make_net: Callable[..., Denoiser],
) -> None:
    net = make_net(grounded=True, attention="prefix", horizon=3, patch=8)
    line = Line(FEN.format("w"), ["e1g1", "e8c8", "f1e1"])
    clean = tokenise(replay([line], 3), net.layout).tokens
    first, second = net.layout.segment("s", 1), net.layout.segment("s", 2)
    assert first is not None
    assert second is not None
    noised = clean.clone()
    noised[:, second.start :] = torch.from_numpy(net.layout.sizes[second.start :])
    before, _ = follow_states(noised, net.layout)
    castled = clean[0, first.start : first.start + 64]
    assert torch.equal(before[2][0, :64], castled)
    assert not torch.equal(before[2][0, :64], clean[0, :64])
    noised[:, first.start : first.start + 8] = 13  # the first rank of s_1 is noised: there the root's is all we know
    before, _ = follow_states(noised, net.layout)
    assert torch.equal(before[2][0, :8], clean[0, :8])
    assert torch.equal(before[2][0, 8:64], castled[8:])
    assert before[2][0, states.SIDE] == 0
    assert before[2][0, states.CLOCK] == 7 + 2


def test_a_move_tells_what_it_moves_and_meets(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", horizon=2, patch=8)
    assert net.grounding is not None
    pieces, grounding = net.grounding.pieces.detach(), net.grounding
    state = torch.from_numpy(states.board_row(chess.Board(FEN.format("w")), chess.WHITE)[None].astype(np.int64))
    pawn, knight, theirs = 1, 2, 7
    vectors = grounding._pieces(torch.tensor([moves.MOVE_ID["f3e5"]]), state)[0]
    assert torch.equal(vectors, pieces[knight] + pieces[14 + theirs])
    vectors = grounding._pieces(torch.tensor([moves.MOVE_ID["a2a3"]]), state)[0]
    assert torch.equal(vectors, pieces[pawn] + pieces[14 + 0])
    for nothing in (moves.NONE, moves.VOCABULARY):
        assert torch.equal(grounding._pieces(torch.tensor([nothing]), state)[0], pieces[13] + pieces[27])


def test_copied_clock_stays_in_its_vocabulary(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix", horizon=3, patch=8)
    board = chess.Board("8/8/8/4k3/8/8/4P3/4K3 w - - 255 200")
    batch = tokenise(replay([Line(board.fen(), [])], 3), net.layout)
    assert torch.isfinite(net(batch.tokens)["clock"]).all()


def test_copy_asks_for_the_record(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(grounded=True, attention="prefix")
    tokens = torch.zeros(1, net.layout.variables, dtype=torch.int64)
    with pytest.raises(ValueError, match="record's tokens"):
        net.logits(net.hidden(tokens, net.layout), net.layout)


def test_carried_and_recalled_squares_come_from_the_same_squares(make_net: Callable[..., Denoiser]) -> None:
    """With everything else silent, a change on one rank of the root is felt by that rank of an imagined state only."""
    net = make_net(grounded=True, attention="prefix", patch=8, horizon=2)
    assert net.grounding is not None
    tokens = tokenise(replay([Line(FEN.format("w"), ["e1g1", "e8g8"])], 2), net.layout).tokens
    other = tokens.clone()
    other[:, 8] = 0  # the pawn on a2 is gone
    places = torch.zeros(1, net.layout.places - net.layout.given_places, net.config.trunk.width)
    hidden = torch.randn(1, 9, net.config.trunk.width, generator=torch.Generator().manual_seed(0))
    one, two = (net.grounding(places, some, hidden, net.layout, net.embedding) for some in (tokens, other))
    felt = (one != two).any(-1)[0].tolist()
    assert felt == [False, False, True, *[False] * 8]  # a_0, eight ranks and the rest of s_1, a_1
    moved = hidden.clone()
    moved[:, 3] += 1.0
    felt = (net.grounding(places, tokens, moved, net.layout, net.embedding) != one).any(-1)[0].tolist()
    assert felt == [False] * 4 + [True] + [False] * 6
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


def test_the_vocabulary_that_play_keeps_follows_the_weights(make_net: Callable[..., Denoiser]) -> None:
    embedding = make_net(grounded=True, attention="prefix", horizon=2, patch=8).embedding
    assert embedding.squares is not None
    with torch.inference_mode():
        first = embedding.vocabulary()
        assert embedding.vocabulary() is first
    assert embedding.vocabulary().requires_grad  # training makes its own
    optimiser = torch.optim.SGD(embedding.parameters(), lr=1.0)
    for weights in (embedding.table, embedding.squares):
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
