"""The protocol's words: positions with their history, go lines in any order, and the lines that go back."""

from __future__ import annotations

import chess
import pytest

from diffusearch.agents.base import Decision
from diffusearch.errors import UserError
from diffusearch.play.uci_words import (
    Go,
    PositionReader,
    bestmove_line,
    info_line,
    legal_line,
    parse_go,
    parse_position,
    wdl,
)


def words(text: str) -> list[str]:
    return text.split()


def moves(text: str) -> tuple[chess.Move, ...]:
    return tuple(chess.Move.from_uci(word) for word in text.split())


def test_go_with_every_word() -> None:
    line = "wtime 1000 btime 2000 winc 10 binc 20 movestogo 5 searchmoves e2e4 d2d4 depth 3 nodes 7 movetime 9 ponder"
    assert parse_go(words(line)) == Go(1000, 2000, 10, 20, 5, 9, 7, 3, False, True, ("e2e4", "d2d4"))
    assert parse_go(["infinite"]).infinite


def test_go_passes_over_what_it_does_not_know() -> None:
    assert parse_go(words("wtime fast btime 5 hurry up movestogo 0 depth -3 wtime")) == Go(btime=5)
    assert parse_go(["wtime", "9" * 400]).wtime == 10**9


def test_the_clock_is_the_side_to_moves_and_never_negative() -> None:
    go = parse_go(words("wtime -50 btime 2000 binc 100"))
    white, black = go.clock(chess.WHITE), go.clock(chess.BLACK)
    assert white is not None
    assert white.remaining == 0.0
    assert black is not None
    assert (black.remaining, black.increment) == (2.0, 0.1)
    assert parse_go(["infinite"]).clock(chess.WHITE) is None


def test_a_position_keeps_its_history() -> None:
    board = parse_position(words("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"))
    assert len(board.move_stack) == 8
    assert board.is_repetition(3)


def test_a_game_that_goes_on_is_read_as_the_whole_line_is() -> None:
    reader, sent = PositionReader(), "startpos moves"
    for word in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3"):
        sent += f" {word}"
        assert reader.read(words(sent)) == parse_position(words(sent))
    with pytest.raises(UserError, match="refused"):
        reader.read(words(sent + " e2e4"))
    assert len(reader.read(words(sent)).move_stack) == 5  # a refused move leaves nothing behind
    assert len(reader.read(words("startpos moves g1f3 d7d5")).move_stack) == 2  # another game


def test_castling_and_promotion_are_read_by_the_board() -> None:
    board = parse_position(words("fen r3k2r/1P3p2/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1h1 e8g8 b7a8Q"))
    assert [move.uci() for move in board.move_stack] == ["e1g1", "e8g8", "b7a8q"]


def test_a_short_fen_is_enough() -> None:
    assert parse_position(words("fen 7k/8/8/8/8/8/8/K6Q b - - 0 1 moves")).is_check()
    assert parse_position(words("fen 7k/8/8/8/8/8/8/K7 b")).turn == chess.BLACK


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fen",
        "fen garbage",
        "startposs",
        "fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "fen 7k/8/8/8/8/8/8/K6Q b - - 0 99999999999999999999999",
        "fen 7k/8/8/8/8/8/8/K6Q b - - 10000 1",
        "startpos moves e2e5",
        "startpos moves e2e4 e2e4",
        "startpos moves 0000",
        "startpos moves é",
    ],
)
def test_positions_that_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="refused"):
        parse_position(words(text))


def test_the_line_is_cut_where_it_stops_being_legal() -> None:
    decision = Decision(chess.Move.from_uci("e2e4"), {}, moves("e2e4 e7e5 e4e5 d7d6"))
    assert [move.uci() for move in legal_line(chess.Board(), decision)] == ["e2e4", "e7e5"]
    other = Decision(chess.Move.from_uci("d2d4"), {}, moves("e2e4 e7e5"))
    assert [move.uci() for move in legal_line(chess.Board(), other)] == ["d2d4"]


def test_info_and_bestmove_lines() -> None:
    decision = Decision(chess.Move.from_uci("e2e4"), {}, moves("e2e4 e7e5"), value=0.5, nodes=20)
    line = info_line(chess.Board(), decision, 1, 0.25, 20, show_wdl=False)
    assert line == "info depth 2 multipv 1 score cp 0 nodes 20 nps 80 time 250 pv e2e4 e7e5"
    assert " wdl 333 334 333 " in info_line(chess.Board(), decision, 1, 0.25, 20, show_wdl=True)
    unknown = Decision(chess.Move.from_uci("e2e4"), {})
    assert (
        info_line(chess.Board(), unknown, 2, 0.0, 0, show_wdl=True) == "info depth 1 multipv 2 nodes 0 time 0 pv e2e4"
    )
    assert bestmove_line(chess.Board(), decision) == "bestmove e2e4 ponder e7e5"
    assert bestmove_line(chess.Board(), unknown) == "bestmove e2e4"
    assert bestmove_line(chess.Board(), None) == "bestmove (none)"


def test_a_delivered_mate_is_said_even_without_values() -> None:
    board = chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    decision = Decision(chess.Move.from_uci("a1a8"), {})
    assert " score mate 1 " in info_line(board, decision, 1, 0.0, 0, show_wdl=False)


@pytest.mark.parametrize("value", [0.0, 0.01, 0.3, 0.5, 0.77, 1.0])
def test_wdl_keeps_the_expected_score(value: float) -> None:
    wins, draws, losses = wdl(value)
    assert wins + draws + losses == 1000
    assert min(wins, draws, losses) >= 0
    assert (wins + draws / 2) / 1000 == pytest.approx(value, abs=0.001)
