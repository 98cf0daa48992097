from __future__ import annotations

from dataclasses import replace
from typing import Any

import chess
import pytest

from diffusearch.errors import UserError
from diffusearch.evaluation.future_quality import future_quality, random_positions
from diffusearch.evaluation.labelled_positions import LabelledPosition
from diffusearch.inference.imagination import Imagination, Ply

FEN = "rnbqkb1r/ppp1pp1p/5np1/3p4/2PP4/2N1P3/PP3PPP/R1BQKBNR b KQkq - 0 4"


def good(move: str) -> Ply:
    return Ply(move, legal=True, state=chess.STARTING_FEN, problem=None, follows=True, squares="." * 64)


def imagine(*line: Ply, **more: Any) -> Imagination:
    return Imagination(FEN, line[0].move or "", {}, line, **more)


def measure(table: Any, imagined: list[Imagination], lines: list[str]) -> dict[str, Any]:
    """One position a line; the positions differ by their move number."""
    positions, answers, known = [], {}, {}
    for number, (one, line) in enumerate(zip(imagined, lines, strict=True)):
        board = chess.Board(FEN)
        board.halfmove_clock = number
        fen = board.fen()
        positions.append(LabelledPosition(fen, tuple(line.split())))
        known[fen] = one
    agent = table(answers)
    play = agent.play
    agent.play = lambda board, limits: play(board, limits).__class__(
        chess.Move.from_uci(known[board.fen()].move), {}, imagination=known[board.fen()]
    )
    return future_quality(agent, positions)


def test_each_column_counts_its_own_failures(table: Any) -> None:
    bad_state = Ply("f8g7", legal=True, state=None, problem="no king", follows=False, squares="." * 64)
    figures = measure(
        table,
        [
            imagine(good("f8g7"), good("g1f3"), good("e8g8")),
            imagine(good("f8g7"), good("a2a3"), Ply("e8e1", False, None, None, False)),  # other move, then illegal
            imagine(bad_state, Ply("g1f3", False, chess.STARTING_FEN, None, False), good("e8g8")),
            imagine(good("b8c6"), Ply(None, False, chess.STARTING_FEN, None, True), good("e8g8")),  # says "over"
        ],
        ["f8g7 g1f3 e8g8 c4d5"] * 4,
    )
    assert (figures["n"], figures["accuracy"], figures["horizon"]) == (4, 0.75, 3)
    first, second, third = figures["steps"]
    assert first["valid_action"]["accuracy"] == 1.0
    assert first["valid_state"] is None
    assert first["match"] is None
    assert second["valid_action"]["accuracy"] == 0.5
    assert second["best"]["accuracy"] == 0.5
    assert second["valid_state"]["accuracy"] == 0.75
    assert second["match"]["accuracy"] == 0.75
    assert third["valid_action"]["accuracy"] == 0.75
    assert third["best"]["accuracy"] == 0.75
    assert third["valid_state"]["accuracy"] == 1.0
    assert third["match"]["accuracy"] == 0.75


def test_steps_behind_the_end_of_the_oracles_game_do_not_count(table: Any) -> None:
    line = (good("f8g7"), good("g1f3"), good("e8g8"))
    steps = measure(table, [imagine(*line), imagine(*line)], ["f8g7", "f8g7 g1f3 e8g8"])["steps"]
    assert [row["valid_action"]["n"] for row in steps] == [2, 1, 1]
    assert [row["best"]["n"] for row in steps] == [2, 1, 1]
    assert steps[1]["valid_state"]["n"] == 2  # the state after a lone mating move still exists
    assert steps[2]["valid_state"]["n"] == 1


def test_saying_game_over_too_early_is_a_failure_of_all_that_should_follow(table: Any) -> None:
    full = imagine(good("f8g7"), good("g1f3"), good("e8g8"))
    early = imagine(good("f8g7"))
    steps = measure(table, [full, early], ["f8g7 g1f3 e8g8"] * 2)["steps"]
    assert [row["valid_action"]["accuracy"] for row in steps] == [1.0, 0.5, 0.5]
    assert [row["best"]["accuracy"] for row in steps] == [1.0, 0.5, 0.5]
    assert steps[1]["valid_state"]["accuracy"] == 1.0  # the state after its only move is there
    assert steps[2]["valid_state"]["accuracy"] == 0.5
    assert steps[2]["match"]["accuracy"] == 0.5


def test_game_over_in_a_mated_imagined_state_costs_only_the_best_move(table: Any) -> None:
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    over = Ply("f8g7", legal=True, state=mated, problem=None, follows=True, squares="." * 64)
    full = imagine(good("f8g7"), good("g1f3"), good("e8g8"))
    steps = measure(table, [full, imagine(over)], ["f8g7 g1f3 e8g8"] * 2)["steps"]
    assert [row["valid_action"]["n"] for row in steps] == [2, 1, 1]
    assert [row["best"]["accuracy"] for row in steps] == [1.0, 0.5, 0.5]
    assert [row["match"]["n"] for row in steps[1:]] == [2, 1]


def test_the_agents_horizon_counts_even_if_every_line_is_short(table: Any) -> None:
    class Planner(table):  # type: ignore[misc]
        horizon = 3

    agent = Planner({chess.Board(FEN).epd(): "f8g7"}, {chess.Board(FEN).epd(): imagine(good("f8g7"))})
    steps = future_quality(agent, [LabelledPosition(FEN, ("f8g7", "g1f3", "e8g8"))])["steps"]
    assert [row["valid_action"]["accuracy"] for row in steps] == [1.0, 0.0, 0.0]


def test_futures_of_states_alone_have_no_moves_to_judge_after_the_first(table: Any) -> None:
    silent = replace(good("f8g7"), move=None, legal=False)
    steps = measure(table, [imagine(good("f8g7"), silent, silent)], ["f8g7 g1f3 e8g8"])["steps"]
    assert [row["valid_action"] is None for row in steps] == [False, True, True]
    assert [row["best"] is None for row in steps] == [False, True, True]
    assert steps[2]["match"]["accuracy"] == 1.0


def test_futures_of_moves_alone_have_no_state_columns(table: Any) -> None:
    bare = Ply("f8g7", True, None, None, False)
    steps = measure(table, [imagine(bare, bare)], ["f8g7 g1f3"])["steps"]
    assert steps[1]["valid_state"] is None
    assert steps[1]["match"] is None
    assert steps[1]["best"]["accuracy"] == 0.0


def test_an_agent_without_imagination_is_refused(table: Any) -> None:
    with pytest.raises(UserError, match="imagines no future"):
        future_quality(table({}), [LabelledPosition(FEN, ("f8g7",))])


def test_random_positions_are_legal_seeded_and_unlabelled(table: Any) -> None:
    positions = random_positions(20, seed=1)
    assert positions == random_positions(20, seed=1)
    assert positions != random_positions(20, seed=2)
    for position in positions:
        assert position.board().is_valid()
        assert any(position.board().legal_moves)
    board = positions[0].board()
    move = next(iter(board.legal_moves)).uci()
    one = imagine(good(move), good("e2e4"))
    figures = future_quality(table({board.epd(): move}, {board.epd(): one}), positions[:1])
    assert (figures["n"], figures["accuracy"]) == (1, None)
    assert figures["steps"][1]["best"] is None
    assert figures["steps"][1]["match"]["accuracy"] == 1.0
