"""Random-move augmentation: the moves are legal and of every kind, and the states follow from them by the rules."""

from __future__ import annotations

import chess
import numpy as np

from diffusearch.data.random_moves import play_random_moves
from diffusearch.data.records import Line, replay
from diffusearch.tokens import moves, states

CASTLE = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP1b1/2N2N2/PPPQ1PPP/R3K2R {} KQkq - 7 30"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


def test_states_follow_from_the_random_moves() -> None:
    fens = [CASTLE.format(side) for side in "wb"] * 100
    best = [next(iter(board.legal_moves)).uci() for board in map(chess.Board, fens)]
    arrays = replay([Line(fen, [move], [100, 27]) for fen, move in zip(fens, best, strict=True)], 3)
    out = play_random_moves(arrays, 0.5, np.random.default_rng(0))
    assert 60 < out["random_move"].sum() < 140
    seen = set()
    for index, fen in enumerate(fens):
        if not out["random_move"][index]:
            assert all((out[name][index] == arrays[name][index]).all() for name in arrays)
            continue
        board = chess.Board(fen)
        mover, token = board.turn, int(out["moves"][index, 0])
        move = board.parse_uci(moves.MOVES[token if mover else moves.TURN[token]])
        seen.add(move)
        board.push(move)
        assert (out["states"][index, 1] == states.board_row(board, mover)).all()
        assert (out["states"][index, 0] == arrays["states"][index, 0]).all()
        assert (out["known"][index], out["values"][index, 0], out["values"][index, 1]) == (1, 100, 255)
    assert len(seen) > 30


def test_a_finished_game_has_no_random_move() -> None:
    arrays = replay([Line(MATED, [])], 2)
    out = play_random_moves(arrays, 1.0, np.random.default_rng(0))
    assert not out["random_move"].any()
    assert (out["moves"] == arrays["moves"]).all()


def test_a_random_move_has_no_soft_targets() -> None:
    arrays = replay([Line(CASTLE.format("w"), ["e1g1"], scored=[("e1g1", 0.5)])], 2, scored=2)
    out = play_random_moves(arrays, 1.0, np.random.default_rng(0))
    assert (out["scored_moves"] == moves.NONE).all()
    assert (out["scored_wins"] == 0).all()
