"""King and pawn against king: textbook positions, both colours, and the way to the promotion."""

from __future__ import annotations

import chess
import pytest

from diffusearch.agents.king_and_pawn import is_king_and_pawn, winning


def test_which_ending_it_knows() -> None:
    assert is_king_and_pawn(chess.Board("8/8/8/8/1k6/8/3P4/4K3 w - - 0 1"))
    assert not is_king_and_pawn(chess.Board("8/8/8/8/1k6/8/3P4/4K3 b - - 0 1"))
    assert not is_king_and_pawn(chess.Board("8/8/8/8/1k6/8/2PP4/4K3 w - - 0 1"))
    assert not is_king_and_pawn(chess.Board("8/8/8/8/1k6/8/3N4/4K3 w - - 0 1"))


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", {"e6d6", "e6f6"}),  # the king in front of the pawn on the sixth rank
        ("4k3/4P3/5K2/8/8/8/8/8 w - - 0 1", set()),  # stalemate or the pawn is lost
        ("3k4/3P4/8/3K4/8/8/8/8 w - - 0 1", {"d5c6", "d5e6"}),  # Black must give way
        ("8/8/8/8/8/k7/7P/K7 w - - 0 1", {"h2h4"}),  # it runs, and the long step comes first
        ("k7/8/K7/P7/8/8/8/8 w - - 0 1", set()),  # a rook's pawn
        ("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1", set()),  # Black has the opposition
    ],
)
def test_textbook_positions(fen: str, moves: set[str]) -> None:
    board = chess.Board(fen)
    assert {move.uci() for move in winning(board, list(board.legal_moves))} == moves
    black = board.mirror()
    found = {
        chess.Move(chess.square_mirror(move.from_square), chess.square_mirror(move.to_square)).uci()
        for move in winning(black, list(black.legal_moves))
    }
    assert found == moves


def test_the_way_to_a_queen_against_every_defence() -> None:
    """From a won position all replies are tried; the pawn is never lost, and the measure ends the game."""
    seen: set[str] = set()
    todo = [chess.Board("8/8/8/8/1k6/8/3P4/4K3 w - - 0 1")]
    promoted = 0
    while todo:
        board = todo.pop()
        if board.epd() in seen:
            continue
        seen.add(board.epd())
        moves = winning(board, list(board.legal_moves))
        assert moves, board.fen()
        board.push(moves[0])
        if board.queens:
            promoted += 1
            continue
        assert any(board.legal_moves)
        for reply in board.legal_moves:
            after = board.copy(stack=False)
            after.push(reply)
            assert after.pawns, board.fen()
            todo.append(after)
    assert promoted > 5
