"""Residual state: what a model predicts before training, and what the castling table learns."""

from __future__ import annotations

from collections.abc import Callable

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.data.records import Line, replay
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.residual_state import CastlingTable
from diffusearch.tokens import moves, states
from diffusearch.tokens.batch import tokenise

FEN = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP1b1/2N2N2/PPPQ1PPP/R3K2R {} KQkq - 7 30"


@pytest.mark.parametrize("side", ["w", "b"])
def test_an_untrained_model_predicts_that_nothing_moves(make_net: Callable[..., Denoiser], side: str) -> None:
    net = make_net(residual_state=True, attention="prefix", horizon=3, patch=8)
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
def test_an_untrained_model_believes_the_move(
    make_net: Callable[..., Denoiser], encoding: str, fen: str, uci: str
) -> None:
    net = make_net(
        residual_state=True, attention="prefix", encoding=encoding, patch=1, head="typed", paradigm="s-asa", horizon=2
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
    assert set(wrong.tolist()) <= {left}  # not the piece that was there; which token, is learned
    assert found[0, segment.start + left] != clean[0, left]


def _in_frame(square: str, fen: str, *, turned: bool) -> int:
    """The square as a record's frame names it: seen by the mover, or as it is."""
    return chess.parse_square(square) ^ (56 if turned and not chess.Board(fen).turn else 0)


def test_a_move_has_vectors_of_the_pieces_on_its_squares(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(residual_state=True, attention="prefix", horizon=2, patch=8)
    residual = net.residual_state
    assert residual is not None
    pieces = residual.pieces.detach()
    state = torch.from_numpy(states.board_row(chess.Board(FEN.format("w")), chess.WHITE)[None].astype(np.int64))
    pawn, knight, theirs = 1, 2, 7
    vectors = residual._pieces(torch.tensor([moves.MOVE_ID["f3e5"]]), state)[0]
    assert torch.equal(vectors, pieces[knight] + pieces[14 + theirs])
    vectors = residual._pieces(torch.tensor([moves.MOVE_ID["a2a3"]]), state)[0]
    assert torch.equal(vectors, pieces[pawn] + pieces[14 + 0])
    for nothing in (moves.NONE, moves.VOCABULARY):
        assert torch.equal(residual._pieces(torch.tensor([nothing]), state)[0], pieces[13] + pieces[27])


def test_copied_clock_stays_in_its_vocabulary(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(residual_state=True, attention="prefix", horizon=3, patch=8)
    board = chess.Board("8/8/8/4k3/8/8/4P3/4K3 w - - 255 200")
    batch = tokenise(replay([Line(board.fen(), [])], 3), net.layout)
    assert torch.isfinite(net(batch.tokens)["clock"]).all()


def test_copy_gates_can_wait_for_the_move(make_net: Callable[..., Denoiser]) -> None:
    """With `copy_gates = "after-move"` the square logits of a state are copied only once its move is visible."""
    settings = {"residual_state": True, "attention": "prefix", "horizon": 3, "patch": 8}
    always, waiting = make_net(**settings), make_net(**settings, copy_gates="after-move")
    waiting.load_state_dict(always.state_dict())
    layout = always.layout
    clean = tokenise(replay([Line(FEN.format("w"), ["a2a3", "a7a6", "a1b1"])], 3), layout).tokens
    sizes = torch.from_numpy(layout.sizes)
    starts = {(kind, ply): segment.start for kind in "as" for ply in range(3) if (segment := layout.segment(kind, ply))}
    noised = clean.clone()
    noised[:, starts["s", 1] : starts["a", 1]] = sizes[starts["s", 1] : starts["a", 1]]
    noised[:, starts["a", 1] :] = sizes[starts["a", 1] :]  # a_0 is visible, a_1 is not
    one, two = always(noised)["square"][0], waiting(noised)["square"][0]
    assert torch.equal(one[:64], two[:64])  # s_1, after a_0
    gap = (one - two)[64:128]  # s_2, after a_1
    assert torch.equal(gap != 0, F.one_hot(clean[0, :64], gap.shape[-1]).bool())  # at the tokens of the root
    assert gap.sum(-1).tolist() == pytest.approx([6.0] * 64, abs=1e-4)  # what fresh gates add


def test_copying_needs_the_record(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(residual_state=True, attention="prefix")
    tokens = torch.zeros(1, net.layout.variables, dtype=torch.int64)
    with pytest.raises(ValueError, match="record's tokens"):
        net.logits(net.hidden(tokens, net.layout), net.layout)


def test_carried_and_recalled_squares_come_from_the_same_squares(make_net: Callable[..., Denoiser]) -> None:
    """All else being zero, a change on one rank of the root changes that rank of a predicted state only."""
    net = make_net(residual_state=True, attention="prefix", patch=8, horizon=2)
    assert net.residual_state is not None
    tokens = tokenise(replay([Line(FEN.format("w"), ["e1g1", "e8g8"])], 2), net.layout).tokens
    other = tokens.clone()
    other[:, 8] = 0  # the pawn on a2 is gone
    places = torch.zeros(1, net.layout.places - net.layout.given_places, net.config.trunk.width)
    hidden = torch.randn(1, 9, net.config.trunk.width, generator=torch.Generator().manual_seed(0))
    one, two = (net.residual_state(places, some, hidden, net.layout, net.embedding) for some in (tokens, other))
    changed = (one != two).any(-1)[0].tolist()
    assert changed == [False, False, True, *[False] * 8]  # a_0, eight ranks and the rest of s_1, a_1
    moved = hidden.clone()
    moved[:, 3] += 1.0
    changed = (net.residual_state(places, tokens, moved, net.layout, net.embedding) != one).any(-1)[0].tolist()
    assert changed == [False] * 4 + [True] + [False] * 6
    with pytest.raises(UserError, match="prefix"):
        make_net(residual_state=True, attention="full")


def test_moves_share_the_vectors_of_their_squares(make_net: Callable[..., Denoiser]) -> None:
    embedding = make_net(residual_state=True, attention="prefix").embedding
    squares = embedding.added["action"].squares
    with torch.no_grad():
        embedding.table.zero_()
    rows = embedding.type_rows("action", moves.VOCABULARY)
    e2e4, e2e3, d2d4 = (rows[moves.MOVE_ID[uci]] for uci in ("e2e4", "e2e3", "d2d4"))
    difference = squares[64 + chess.E4] - squares[64 + chess.E3]
    assert torch.allclose(e2e4 - e2e3, difference, rtol=1e-4, atol=1e-6)
    assert not torch.allclose(e2e4, d2d4)
    assert not rows[moves.NONE].any()


ROOK_TAKES_ROOK = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"  # the capture removes one right, and the move another


def test_an_untrained_castling_table_is_zero() -> None:
    before = torch.arange(16)[None]
    assert not CastlingTable(16)(before, torch.full((1, 16), 4), torch.full((1, 16), 68)).any()


def test_the_castling_table_learns_which_squares_matter(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(residual_state=True, attention="prefix", horizon=2, patch=8)
    lines = [Line(FEN.format("w"), [uci]) for uci in ("e1g1", "e1e2", "h1g1", "a1b1", "a2a3", "d2e3")]
    lines += [Line(ROOK_TAKES_ROOK, [uci]) for uci in ("a1a8", "h1h8", "h1h2")]
    layout = net.layout
    clean = tokenise(replay(lines, 2), layout).tokens
    state = layout.segment("s", 1)
    assert state is not None
    noised = clean.clone()
    noised[:, state.start :] = torch.from_numpy(layout.sizes[state.start :])
    target = clean[:, state.start + states.CASTLING]
    table = net.heads["castling"].castling_table
    assert table is not None
    optimiser = torch.optim.Adam(table.parameters(), lr=1e-2)
    unmoved = net(noised)["castling"][:, 0].argmax(-1)
    assert torch.equal(unmoved, clean[:, states.CASTLING])  # at the start all rights stay
    assert not torch.equal(unmoved, target)
    for _ in range(60):
        optimiser.zero_grad()
        F.cross_entropy(net(noised)["castling"][:, 0], target).backward()
        optimiser.step()
    assert torch.equal(net(noised)["castling"][:, 0].argmax(-1), target)


def test_the_castling_table_needs_all_rights_in_one_variable(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(residual_state=True, attention="prefix", encoding="paper", patch=1, head="typed")
    assert net.heads["castling"].castling_table is None
    assert net.heads["castling"].copy_gates is not None
