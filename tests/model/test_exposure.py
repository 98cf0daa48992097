"""What would look at the king after a move: with the right numbers, the whole law of check."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.exposure import Exposure
from diffusearch.model.standing import Standing
from diffusearch.model.trunk import TrunkConfig
from diffusearch.tokens import moves, states

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(7, 13)  # the opponent's


def squares(board: chess.Board) -> torch.Tensor:
    return torch.from_numpy(states.board_row(board, board.turn).astype(np.int64))[None, :64]


def knowing() -> Exposure:
    """Numbers that know which piece is dangerous where: -1 for each that gives check."""
    exposure = Exposure()
    with torch.no_grad():
        lines = exposure.lines.view(8, 2, 13)  # the way, far or next to it, the piece
        lines[:4, :, [ROOK, QUEEN]] = -1 / 30
        lines[4:, :, [BISHOP, QUEEN]] = -1 / 30
        lines[:, 1, KING] = -1 / 30
        lines[4:6, 1, PAWN] = -1 / 30  # the two ways up: the opponent's pawns come down
        exposure.leaps[KNIGHT] = -1 / 30
    return exposure


def played(plies: int, seed: int) -> chess.Board:
    board, lots = chess.Board(), random.Random(seed)
    for _ in range(plies):
        if board.is_game_over():
            break
        # checks and captures first: positions with something to see
        own = list(board.legal_moves)
        loud = [move for move in own if board.gives_check(move) or board.is_capture(move)]
        board.push(lots.choice(loud if loud and lots.random() < 0.4 else own))
    return board


def score_of(scores: torch.Tensor, board: chess.Board, move: chess.Move) -> float:
    token = moves.MOVE_ID[move.uci()]
    return float(scores.detach()[token if board.turn else moves.TURN[token]])


def test_with_the_right_numbers_it_is_the_law_of_check() -> None:
    exposure, unlawful = knowing(), 0
    for seed in range(150):
        board = played(20 + seed % 60, seed)
        with torch.no_grad():
            scores = exposure(squares(board))[0]
        for move in board.pseudo_legal_moves:
            if board.is_en_passant(move):
                continue
            lawful = board.is_legal(move)
            unlawful += not lawful
            assert (score_of(scores, board, move) > -0.5) == lawful, (board.fen(), move.uci())
    assert unlawful > 500  # pins, checks and walks into them were among them


@pytest.mark.parametrize(
    ("fen", "uci"),
    [
        ("4k3/8/8/8/4r3/8/8/4K2R w K - 0 1", "e1g1"),  # out of a check
        ("4k3/8/8/8/5r2/8/8/4K2R w K - 0 1", "e1g1"),  # through one
        ("4k3/8/8/8/3r4/8/8/R3K3 w Q - 0 1", "e1c1"),
        ("4k3/8/8/8/8/8/7p/4K2R w K - 0 1", "e1g1"),  # into one
    ],
)
def test_castling_leaves_a_square_and_passes_one(fen: str, uci: str) -> None:
    board = chess.Board(fen)
    for side in (board, board.mirror()):
        move = chess.Move.from_uci(uci)
        move = move if side.turn else chess.Move(move.from_square ^ 56, move.to_square ^ 56)
        assert not side.is_legal(move)
        assert score_of(knowing()(squares(side))[0], side, move) < -0.5
        free = chess.Board("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
        assert score_of(knowing()(squares(free))[0], free, chess.Move.from_uci(uci)) == 0.0


def test_pins_and_checks_are_learnt_from_what_is_lawful() -> None:
    boards = [played(20 + seed % 60, seed) for seed in range(400)]
    seen = torch.cat([squares(board) for board in boards])
    asked = []  # row, token, lawful
    for row, board in enumerate(boards):
        for move in board.pseudo_legal_moves:
            token = moves.MOVE_ID[move.uci()]
            asked.append((row, int(token if board.turn else moves.TURN[token]), board.is_legal(move)))
    rows, tokens, lawful = (torch.tensor(column) for column in zip(*asked, strict=True))
    learns = rows < 300
    exposure, bias = Exposure(), torch.nn.Parameter(torch.ones(()))
    optimiser = torch.optim.Adam([*exposure.parameters(), bias], lr=0.01)
    for _ in range(150):
        scores = bias + exposure(seen)[rows, tokens]
        loss = F.binary_cross_entropy_with_logits(scores[learns], lawful[learns].float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    right = ((scores > 0) == lawful)[~learns].float().mean()
    assert float(lawful[~learns].float().mean()) < 0.95 < 0.99 < float(right)


def test_one_table_serves_both_sides() -> None:
    torch.manual_seed(0)
    standing = Standing(exposure=True)
    for parameter in standing.exposure.parameters():
        torch.nn.init.normal_(parameter)
    board = chess.Board("r3k2r/ppp2ppp/2n5/3pP3/1b6/2N2N2/PPP2PPP/R3K2R w KQkq d6 0 1")
    rows = [torch.from_numpy(states.board_row(board, mover).astype(np.int64))[None] for mover in (True, False)]
    own, other = standing(rows[0], opponent=False), standing(rows[1], opponent=True)
    assert bool((own != 0).any())
    assert torch.equal(own[:, moves.TURN[:-1]], other)


def test_it_starts_as_nothing_and_needs_standing() -> None:
    board = played(30, 1)
    assert not bool(Exposure()(squares(board)).any())
    trunk = TrunkConfig(layers=1, width=32, heads=2)
    assert Denoiser(ModelConfig("s-a", 1, "compact", 8, "squares", standing=True, exposure=True, trunk=trunk))
    with pytest.raises(UserError, match="standing"):
        Denoiser(ModelConfig("s-a", 1, "compact", 8, "squares", exposure=True, trunk=trunk))


def test_a_board_without_a_king_is_no_error() -> None:
    assert Exposure()(torch.zeros(2, 64, dtype=torch.int64)).shape == (2, len(moves.SOURCE))
