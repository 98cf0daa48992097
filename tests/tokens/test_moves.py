"""The 1968 moves and their two symmetries."""

from __future__ import annotations

import random

import chess
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from diffusearch.tokens import moves


def test_there_are_1968_different_moves() -> None:
    assert len(moves.MOVES) == len(set(moves.MOVES)) == moves.NONE == 1968
    assert moves.VOCABULARY == 1969
    assert sum(len(uci) == 5 for uci in moves.MOVES) == 176


def test_every_move_round_trips() -> None:
    for token, uci in enumerate(moves.MOVES):
        move = chess.Move.from_uci(uci)
        assert moves.move_ids([move]) == [moves.MOVE_ID[uci]] == [token]
        assert moves.id_uci(token) == uci
        assert (moves.SOURCE[token], moves.TARGET[token]) == (move.from_square, move.to_square)
        assert [None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN][moves.PROMOTION[token]] == move.promotion


def test_the_end_of_the_game_is_the_null_move() -> None:
    assert moves.id_uci(moves.NONE) == "0000"


def test_all_promotions_are_there() -> None:
    for colour, rank in ((chess.WHITE, 6), (chess.BLACK, 1)):
        for file in range(8):
            board = chess.Board(None)
            board.set_piece_at(chess.square(file, rank), chess.Piece(chess.PAWN, colour))
            for side in (-1, 1):  # something to take on both sides
                if 0 <= file + side < 8:
                    prey = chess.square(file + side, 7 if colour else 0)
                    board.set_piece_at(prey, chess.Piece(chess.ROOK, not colour))
            board.turn = colour
            found = [move.uci() for move in board.pseudo_legal_moves]
            assert len(found) == 4 * (3 - (file in (0, 7)))
            assert all(uci in moves.MOVE_ID for uci in found)


def test_castling_is_the_kings_step() -> None:
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    castlings = {move.uci() for move in board.legal_moves if board.is_castling(move)}
    assert castlings == {"e1g1", "e1c1"}
    assert castlings <= set(moves.MOVES)


def test_turning_and_mirroring_are_involutions() -> None:
    everything = np.arange(moves.VOCABULARY)
    for symmetry in (moves.TURN, moves.MIRROR):
        assert np.array_equal(symmetry[symmetry], everything)
        assert symmetry[moves.NONE] == moves.NONE
        assert not np.array_equal(symmetry, everything)
    assert moves.TURN[moves.MOVE_ID["e2e4"]] == moves.MOVE_ID["e7e5"]
    assert moves.MIRROR[moves.MOVE_ID["e2e4"]] == moves.MOVE_ID["d2d4"]
    assert moves.TURN[moves.MOVE_ID["a7b8q"]] == moves.MOVE_ID["a2b1q"]
    assert np.array_equal(moves.TURN[moves.MIRROR], moves.MIRROR[moves.TURN])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 80))
def test_turning_a_move_is_turning_the_board(seed: int, plies: int) -> None:
    chance, board = random.Random(seed), chess.Board()
    for _ in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(chance.choice(legal))
    here = set(moves.TURN[moves.move_ids(board.legal_moves)].tolist())
    assert here == set(moves.move_ids(board.legal_moves, turned=True))
    assert here == set(moves.move_ids(board.mirror().legal_moves))
