"""Every legal position survives the way into tokens and back, in both encodings and for both movers."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diffusearch.tokens import states
from diffusearch.tokens.encodings import ENCODINGS, Paper
from diffusearch.tokens.states import InvalidState, board_row, row_board

# Positions that random play hardly finds: en passant both ways, promotions, castling, long games, mates, stalemates.
RARE = (
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq d3 0 3",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",  # the pawn is pinned along the rank: it cannot be taken
    "1n5k/P1P5/8/8/8/8/p1p5/1N5K w - - 0 1",
    "1n5k/P1P5/8/8/8/8/p1p5/1N5K b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 30",
    "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 3 30",
    "7k/8/8/8/8/8/8/KR6 w - - 100 170",
    "7k/8/8/8/8/8/8/KR6 b - - 149 999",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 9 99",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 10 100",
)
quick = settings(max_examples=60, deadline=None)


def playout(seed: int, plies: int, clock: int, number: int) -> chess.Board:
    """A position after random moves; clock and number are added to what the game gave."""
    chance, board = random.Random(seed), chess.Board()
    for _ in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(chance.choice(legal))
    board.halfmove_clock += clock
    board.fullmove_number += number - 1
    return board.copy(stack=False)


POSITIONS = st.one_of(
    st.builds(
        playout,
        st.integers(0, 2**32),
        st.integers(0, 160),
        st.sampled_from([0, 0, 9, 99, 100, 150]),
        st.sampled_from([1, 1, 10, 99, 100, 700]),
    ),
    st.sampled_from(RARE).map(chess.Board),
)


@quick
@given(POSITIONS, st.booleans())
def test_rows_round_trip_for_both_movers(board: chess.Board, mover: bool) -> None:
    row = board_row(board, mover)
    assert row.shape == (states.WIDTH,)
    assert row_board(row, mover, board.fullmove_number).fen() == board.fen()


@quick
@given(POSITIONS)
def test_a_row_is_what_the_mover_sees(board: chess.Board) -> None:
    """Black sees the turned board as White would."""
    assert np.array_equal(board_row(board, board.turn), board_row(board.mirror(), not board.turn))


@pytest.mark.parametrize("name", ["paper", "compact"])
@quick
@given(POSITIONS, st.booleans())
def test_tokens_round_trip(name: str, board: chess.Board, mover: bool) -> None:
    encoding = ENCODINGS[name]
    rows, numbers = board_row(board, mover)[None], np.array([board.fullmove_number])
    tokens = encoding.encode(rows, np.array([not mover]), numbers)[0]
    assert tokens.shape == (len(encoding.slots),)
    assert all(0 <= token < slot.size for token, slot in zip(tokens, encoding.slots, strict=True))
    assert encoding.decode(tokens, mover, board.fullmove_number).fen() == board.fen()


@quick
@given(POSITIONS, st.booleans())
@example(chess.Board(), True)
def test_the_papers_77_characters(board: chess.Board, mover: bool) -> None:
    paper = Paper()
    rows = board_row(board, mover)[None]
    text = paper.text(paper.encode(rows, np.array([not mover]), np.array([board.fullmove_number]))[0])
    assert len(text) == 77
    placement, side, rights, en_passant, clock, number = board.fen().split()
    for digit in "12345678":
        placement = placement.replace(digit, "." * int(digit))
    assert text[:64] == placement.replace("/", "")
    assert text[64] == side
    assert text[65:69].rstrip(".") == rights.replace("-", "")
    assert text[69:71].rstrip(".") == en_passant
    assert (text[71:74].rstrip("."), text[74:].rstrip(".")) == (clock, number)


def test_full_move_numbers_stop_at_three_digits() -> None:
    board = chess.Board("7k/8/8/8/8/8/8/KR6 w - - 0 1234")
    assert Paper().text(Paper().encode_board(board)).endswith("999")


def test_bishop_and_black_are_different_tokens() -> None:
    kinds = [slot.type for slot in Paper().slots]
    assert kinds[:64] == ["square"] * 64
    assert kinds[64] == "side"


BROKEN = [
    ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has no king"),
    ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "too many kings"),
    ("P6k/8/8/8/8/8/8/K7 w - - 0 1", "a pawn stands on the first or last rank"),
    ("7k/8/8/8/8/8/PPPPPPPP/K6P w - - 0 1", "more than 8 pawns"),
    ("7k/7R/8/8/8/8/8/K7 w - - 0 1", "the side that is not to move is in check"),
    ("7k/8/8/8/8/8/8/4K3 w K - 0 1", "castling rights"),
]


@pytest.mark.parametrize("name", ["paper", "compact"])
@pytest.mark.parametrize("mover", [chess.WHITE, chess.BLACK])
@pytest.mark.parametrize(("fen", "reason"), BROKEN)
def test_a_state_that_is_no_position_says_why(name: str, mover: bool, fen: str, reason: str) -> None:
    encoding = ENCODINGS[name]
    board = chess.Board(fen)
    row = board_row(board, mover)
    if reason == "castling rights":  # rows are always clean: break one by hand
        row[states.CASTLING] = 1 if mover else 4
    tokens = encoding.encode(row[None], np.array([not mover]), np.array([1]))[0]
    with pytest.raises(InvalidState, match=reason):
        encoding.decode(tokens, mover, 1)


@pytest.mark.parametrize("name", ["paper", "compact"])
def test_an_en_passant_square_nobody_can_use_is_refused(name: str) -> None:
    encoding, board = ENCODINGS[name], chess.Board()
    row = board_row(board, chess.WHITE)
    row[states.EN_PASSANT] = 5
    tokens = encoding.encode(row[None], np.array([False]), np.array([1]))[0]
    with pytest.raises(InvalidState):
        encoding.decode(tokens, chess.WHITE, 1)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_tokens_are_a_position_or_a_reason(data: st.DataObject) -> None:
    """No exception but InvalidState comes out of decoding, whatever the model says."""
    encoding = ENCODINGS[data.draw(st.sampled_from(["paper", "compact"]))]
    board = data.draw(POSITIONS)
    rows, numbers = board_row(board, board.turn)[None], np.array([board.fullmove_number])
    tokens = encoding.encode(rows, np.array([not board.turn]), numbers)[0]
    for slot in data.draw(st.lists(st.integers(0, len(encoding.slots) - 1), max_size=6)):
        tokens[slot] = data.draw(st.integers(0, encoding.slots[slot].size - 1))
    try:
        found = encoding.decode(tokens, board.turn, board.fullmove_number)
    except InvalidState as error:
        reason = str(error)
    else:
        reason = "valid" if found.is_valid() else ""
    assert reason
