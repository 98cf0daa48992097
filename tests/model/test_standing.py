"""What stands where scores moves: alike for both sides, nothing at the start, and enough to learn how pieces move."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.standing import Standing
from diffusearch.model.trunk import TrunkConfig
from diffusearch.tokens import moves, states

CASTLES = "r3k2r/ppp2ppp/2n5/3pP3/8/2N2N2/PPP2PPP/R3K2R w KQk d6 0 1"


def row(board: chess.Board, mover: chess.Color) -> torch.Tensor:
    return torch.from_numpy(states.board_row(board, mover).astype(np.int64))[None]


def loud() -> Standing:
    torch.manual_seed(0)
    standing = Standing()
    for parameter in standing.parameters():
        torch.nn.init.normal_(parameter)
    return standing


def test_one_table_serves_both_sides() -> None:
    board = chess.Board(CASTLES)
    own = loud()(row(board, chess.WHITE), opponent=False)
    seen_by_the_other = loud()(row(board, chess.BLACK), opponent=True)
    assert torch.equal(own[:, moves.TURN[:-1]], seen_by_the_other)


def test_every_move_hears_of_every_square_and_of_the_rights() -> None:
    standing, board = loud(), chess.Board(CASTLES)
    before = standing(row(board, chess.WHITE), opponent=False)
    board.set_castling_fen("k")
    after = standing(row(board, chess.WHITE), opponent=False)
    assert bool((before != after).all())


def test_it_starts_as_nothing() -> None:
    config = ModelConfig(
        "s-asa", 2, "compact", 8, "squares", trunk=TrunkConfig(layers=1, width=32, heads=2), standing=True
    )
    torch.manual_seed(1)
    net = Denoiser(config).eval()
    tokens = torch.zeros(2, net.layout.variables, dtype=torch.int64)
    with torch.no_grad():
        at_first = net(tokens)["action"]
        without = net.logits(net.hidden(tokens, net.layout), net.layout, tokens=tokens)["action"]
        net.heads.standing.squares += 1.0
        later = net(tokens)["action"]
    assert torch.equal(at_first, without)
    assert torch.allclose(later[..., :-1], at_first[..., :-1] + 66.0, atol=1e-3)
    assert torch.equal(later[..., -1], at_first[..., -1])  # "the game is over" is not a move of a piece
    with pytest.raises(ValueError, match="tokens"):
        net.logits(net.hidden(tokens, net.layout), net.layout)


@pytest.mark.parametrize("opponent", [False, True])
def test_what_stands_between_is_heard(*, opponent: bool) -> None:
    standing = Standing()
    with torch.no_grad():
        standing.blocked -= 1.0
    board = chess.Board("7k/4P3/8/8/8/P7/1N6/R3K3 w - - 0 1")
    board = board.mirror() if opponent else board
    with torch.no_grad():
        scores = standing(row(board, chess.WHITE), opponent=opponent)[0]
    turned = {uci: chess.Move.from_uci(uci) for uci in ("a1a5", "a1a2", "a1d1", "a1g1", "b2d1", "e7e8q")}
    for uci, move in turned.items():
        flip = 56 if opponent else 0
        there = chess.Move(move.from_square ^ flip, move.to_square ^ flip, move.promotion).uci()
        assert scores[moves.MOVE_ID[there]] == (-30.0 if uci in ("a1a5", "a1g1") else 0.0)


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
    standing = Standing()
    optimiser = torch.optim.Adam(standing.parameters(), 0.1)
    for _ in range(40):
        optimiser.zero_grad()
        scores = standing(inputs[:1200], opponent=False)
        loss = F.cross_entropy(scores, targets[:1200] / targets[:1200].sum(1, keepdim=True))
        loss.backward()
        optimiser.step()
    best = standing(inputs[1200:], opponent=False).argmax(1)
    share = float(targets[1200:].gather(1, best[:, None]).mean())
    assert share > 0.5  # by chance: 0.015


def test_other_encodings_are_refused() -> None:
    with pytest.raises(UserError, match="standing"):
        ModelConfig(standing=True).check()
