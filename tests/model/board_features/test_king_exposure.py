"""King exposure: with the right numbers it finds every move that leaves the king in check."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.model.board_features.king_exposure import KingExposure
from diffusearch.model.board_features.policy_skip import PolicySkip
from diffusearch.tokens import moves, states

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(7, 13)  # the opponent's


def squares(board: chess.Board) -> torch.Tensor:
    return torch.from_numpy(states.board_row(board, board.turn).astype(np.int64))[None, :64]


def exact_numbers() -> KingExposure:
    """-1 for each piece that gives check."""
    exposure = KingExposure()
    with torch.no_grad():
        lines = exposure.lines.view(8, 2, 13)  # the line, farther or adjacent, the piece
        lines[:4, :, [ROOK, QUEEN]] = -1 / 30
        lines[4:, :, [BISHOP, QUEEN]] = -1 / 30
        lines[:, 1, KING] = -1 / 30
        lines[4:6, 1, PAWN] = -1 / 30  # the two lines up: the opponent's pawns come down
        exposure.jumps[KNIGHT] = -1 / 30
    return exposure


def played(plies: int, seed: int) -> chess.Board:
    board, lots = chess.Board(), random.Random(seed)
    for _ in range(plies):
        if board.is_game_over():
            break
        # prefer checks and captures
        own = list(board.legal_moves)
        sharp = [move for move in own if board.gives_check(move) or board.is_capture(move)]
        board.push(lots.choice(sharp if sharp and lots.random() < 0.4 else own))
    return board


def score_of(scores: torch.Tensor, board: chess.Board, move: chess.Move) -> float:
    token = moves.MOVE_ID[move.uci()]
    return float(scores.detach()[token if board.turn else moves.TURN[token]])


@pytest.mark.slow
def test_with_the_right_numbers_it_finds_moves_into_check() -> None:
    exposure, illegal = exact_numbers(), 0
    for seed in range(150):
        board = played(20 + seed % 60, seed)
        with torch.no_grad():
            scores = exposure(squares(board))[0]
        for move in board.pseudo_legal_moves:
            if board.is_en_passant(move):
                continue
            legal = board.is_legal(move)
            illegal += not legal
            assert (score_of(scores, board, move) > -0.5) == legal, (board.fen(), move.uci())
    assert illegal > 500  # pins, checks and walks into them were among them


@pytest.mark.parametrize(
    ("fen", "uci"),
    [
        ("4k3/8/8/8/4r3/8/8/4K2R w K - 0 1", "e1g1"),  # out of a check
        ("4k3/8/8/8/5r2/8/8/4K2R w K - 0 1", "e1g1"),  # through one
        ("4k3/8/8/8/3r4/8/8/R3K3 w Q - 0 1", "e1c1"),
        ("4k3/8/8/8/8/8/7p/4K2R w K - 0 1", "e1g1"),  # into one
    ],
)
def test_castling_out_of_through_and_into_check(fen: str, uci: str) -> None:
    board = chess.Board(fen)
    for side in (board, board.mirror()):
        move = chess.Move.from_uci(uci)
        move = move if side.turn else chess.Move(move.from_square ^ 56, move.to_square ^ 56)
        assert not side.is_legal(move)
        assert score_of(exact_numbers()(squares(side))[0], side, move) < -0.5
        free = chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
        assert score_of(exact_numbers()(squares(free))[0], free, chess.Move.from_uci(uci)) == 0.0


@pytest.mark.slow
def test_pins_and_checks_are_learned_from_legal_moves() -> None:
    boards = [played(20 + seed % 60, seed) for seed in range(400)]
    seen = torch.cat([squares(board) for board in boards])
    asked = []  # row, token, legal
    for row, board in enumerate(boards):
        for move in board.pseudo_legal_moves:
            token = moves.MOVE_ID[move.uci()]
            asked.append((row, int(token if board.turn else moves.TURN[token]), board.is_legal(move)))
    rows, tokens, legal = (torch.tensor(column) for column in zip(*asked, strict=True))
    learns = rows < 300
    exposure, bias = KingExposure(), torch.nn.Parameter(torch.ones(()))
    optimiser = torch.optim.Adam([*exposure.parameters(), bias], lr=0.01)
    for _ in range(150):
        scores = bias + exposure(seen)[rows, tokens]
        loss = F.binary_cross_entropy_with_logits(scores[learns], legal[learns].float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    right = ((scores > 0) == legal)[~learns].float().mean()
    assert float(legal[~learns].float().mean()) < 0.95 < 0.99 < float(right)


def test_both_sides_share_the_tables() -> None:
    torch.manual_seed(0)
    skip = PolicySkip()
    for parameter in skip.king_exposure.parameters():
        torch.nn.init.normal_(parameter)
    board = chess.Board("r3k2r/ppp2ppp/2n5/3pP3/1b6/2N2N2/PPP2PPP/R3K2R w KQkq d6 0 1")
    rows = [torch.from_numpy(states.board_row(board, mover).astype(np.int64))[None] for mover in (True, False)]
    own, other = skip(rows[0], opponent=False), skip(rows[1], opponent=True)
    assert bool((own != 0).any())
    assert torch.equal(own[:, moves.TURN[:-1]], other)


def test_it_starts_at_zero() -> None:
    assert not bool(KingExposure()(squares(played(30, 1))).any())


def test_a_board_without_a_king_is_no_error() -> None:
    assert KingExposure()(torch.zeros(2, 64, dtype=torch.int64)).shape == (2, len(moves.SOURCE))
