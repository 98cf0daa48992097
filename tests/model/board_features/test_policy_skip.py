"""Policy skip: the same for both sides, zero at the start, and enough to learn how pieces move."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.model.board_features.policy_skip import PolicySkip
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens import moves, states

CASTLES = "r3k2r/ppp2ppp/2n5/3pP3/8/2N2N2/PPP2PPP/R3K2R w KQk d6 0 1"


def row(board: chess.Board, mover: chess.Color) -> torch.Tensor:
    return torch.from_numpy(states.board_row(board, mover).astype(np.int64))[None]


def random_tables() -> PolicySkip:
    torch.manual_seed(0)
    skip = PolicySkip()
    for parameter in skip.parameters():
        torch.nn.init.normal_(parameter)
    return skip


def test_both_sides_share_the_tables() -> None:
    board = chess.Board(CASTLES)
    own = random_tables()(row(board, chess.WHITE), opponent=False)
    seen_by_the_other = random_tables()(row(board, chess.BLACK), opponent=True)
    assert torch.equal(own[:, moves.TURN[:-1]], seen_by_the_other)


def test_every_move_reads_the_castling_rights() -> None:
    skip, board = random_tables(), chess.Board(CASTLES)
    before = skip(row(board, chess.WHITE), opponent=False)
    board.set_castling_fen("k")
    after = skip(row(board, chess.WHITE), opponent=False)
    assert bool((before != after).all())


def test_it_starts_at_zero_and_adds_its_scores_to_the_logits(make_net: Callable[..., Denoiser]) -> None:
    net, plain = (make_net(horizon=2, patch=8, board_features=on) for on in (True, False))
    plain.load_state_dict({name: w for name, w in net.state_dict().items() if name in plain.state_dict()})
    board = chess.Board(CASTLES)
    tokens = torch.zeros(1, net.layout.variables, dtype=torch.int64)
    for segment in net.layout.segments:
        if segment.kind == "s":
            tokens[:, segment.start : segment.start + states.WIDTH] = row(board, chess.WHITE)
    skip = net.heads["action"].policy_skip
    with torch.no_grad():
        at_first, without = net(tokens)["action"], plain(tokens)["action"]
        assert torch.equal(at_first, without)
        for table in skip.parameters():
            torch.nn.init.normal_(table)
        later = net(tokens)["action"]
        scores = [skip(row(board, chess.WHITE), opponent=bool(ply)) for ply in range(2)]
    assert torch.equal(later[:, :, : moves.NONE], without[:, :, : moves.NONE] + torch.stack(scores, 1))
    assert torch.equal(later[..., moves.NONE], without[..., moves.NONE])  # "the game is over" is no move of a piece
    with pytest.raises(ValueError, match="tokens"):
        net.logits(net.hidden(tokens, net.layout), net.layout)


@pytest.mark.parametrize("opponent", [False, True])
def test_a_piece_between_is_read(*, opponent: bool) -> None:
    skip = PolicySkip()
    with torch.no_grad():
        skip.blocked -= 1.0
    board = chess.Board("7k/4P3/8/8/8/P7/1N6/R3K3 w - - 0 1")
    board = board.mirror() if opponent else board
    with torch.no_grad():
        scores = skip(row(board, chess.WHITE), opponent=opponent)[0]
    turned = {uci: chess.Move.from_uci(uci) for uci in ("a1a5", "a1a2", "a1d1", "a1g1", "b2d1", "e7e8q")}
    for uci, move in turned.items():
        flip = 56 if opponent else 0
        there = chess.Move(move.from_square ^ flip, move.to_square ^ flip, move.promotion).uci()
        assert scores[moves.MOVE_ID[there]] == (-30.0 if uci in ("a1a5", "a1g1") else 0.0)


@pytest.mark.slow
def test_it_learns_how_pieces_move_from_legal_moves_alone() -> None:
    chance = random.Random(5)
    rows, legal = [], []
    board = chess.Board()
    while len(rows) < 1500:
        options = list(board.legal_moves)
        if not options or board.halfmove_clock > 60:
            board = chess.Board()
            continue
        rows.append(row(board, board.turn)[0])
        mask = torch.zeros(len(moves.SOURCE))
        mask[moves.move_ids(options, turned=not board.turn)] = 1.0
        legal.append(mask)
        board.push(chance.choice(options))
    inputs, targets = torch.stack(rows), torch.stack(legal)
    skip = PolicySkip()
    optimiser = torch.optim.Adam(skip.parameters(), 0.1)
    for _ in range(40):
        optimiser.zero_grad()
        scores = skip(inputs[:1200], opponent=False)
        loss = F.cross_entropy(scores, targets[:1200] / targets[:1200].sum(1, keepdim=True))
        loss.backward()
        optimiser.step()
    best = skip(inputs[1200:], opponent=False).argmax(1)
    share = float(targets[1200:].gather(1, best[:, None]).mean())
    assert share > 0.5  # by chance: 0.015
