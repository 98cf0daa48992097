from __future__ import annotations

from collections.abc import Callable

import chess
import pytest

from diffusearch.data.labelling import Labeller, LabelSettings, Row
from diffusearch.data.oracle import OracleSettings
from diffusearch.data.root_positions import RootPosition
from diffusearch.data.scores import parse_actions, parse_values
from diffusearch.data.uci_process import SearchBudget

FENS = [
    chess.STARTING_FEN,
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
]
MATE_IN_TWO = "6k1/5ppp/8/8/8/8/8/RR5K w - - 0 1"


def label_all(positions: list[RootPosition], settings: LabelSettings) -> list[Row]:
    with Labeller(settings) as labeller:
        return list(labeller.label(positions))


def rows_of(
    engine: str, fens: list[str], future: str, horizon: int = 4, actions: bool = False, seed: int = 0, multipv: int = 1
) -> list[Row]:
    oracle = OracleSettings(engine, SearchBudget(nodes=2000), SearchBudget(nodes=500))
    positions = [RootPosition(fen, "p", 0, 0, None, None, "train") for fen in fens]
    return label_all(positions, LabelSettings(future, horizon, actions, seed, oracle, multipv))


def states(fen: str, line: str) -> list[str]:
    board = chess.Board(fen)
    fens = [fen]
    for move in line.split():
        board.push(board.parse_uci(move))
        fens.append(board.fen())
    return fens


def test_relabel_is_a_search_at_every_state(make_engine: Callable[..., str]) -> None:
    """Each move of the line is what the oracle says on its state alone, and so is its value."""
    for row in rows_of(make_engine(), FENS, "relabel"):
        passed = states(row["fen"], row["line"])[:4]
        alone = rows_of(make_engine(), passed, "relabel", horizon=1)
        assert row["line"].split() == [other["line"] for other in alone]
        assert [score.cp for score in parse_values(row["values"])] == [other["cp"] for other in alone]


def test_a_short_variation_is_lengthened_by_searches(make_engine: Callable[..., str]) -> None:
    """The fake engine's variations have one move: pv then equals relabel."""
    extended, searched = rows_of(make_engine(), FENS, "pv"), rows_of(make_engine(), FENS, "relabel")
    assert [(r["line"], r["values"]) for r in extended] == [(r["line"], r["values"]) for r in searched]


def test_random_futures_are_legal_seeded_and_start_with_the_oracle(make_engine: Callable[..., str]) -> None:
    first, again = (rows_of(make_engine(), FENS, "random", horizon=6) for _ in range(2))
    other = rows_of(make_engine(), FENS, "random", horizon=6, seed=1)
    oracle = rows_of(make_engine(), FENS, "relabel", horizon=1)
    assert first == again
    assert [r["line"] for r in first] != [r["line"] for r in other]
    assert [r["line"].split()[0] for r in first] == [r["line"] for r in oracle]
    for row in first:
        assert len(states(row["fen"], row["line"])) == 7


def test_a_random_draw_does_not_depend_on_the_company(make_engine: Callable[..., str]) -> None:
    alone = rows_of(make_engine(), FENS[1:2], "random")
    assert rows_of(make_engine(), FENS, "random")[1:2] == alone


def test_random_worlds_have_unrelated_states_with_legal_moves(make_engine: Callable[..., str]) -> None:
    for row in rows_of(make_engine(), FENS, "random-world"):
        moves = row["line"].split()
        assert len(moves) == 4
        assert len(row["states"]) == 3
        assert set(row["states"]) <= set(FENS) - {row["fen"]}
        for state, move in zip(row["states"], moves[1:], strict=True):
            assert chess.Move.from_uci(move) in chess.Board(state).legal_moves


def test_every_action_is_valued_best_first(make_engine: Callable[..., str]) -> None:
    for row in rows_of(make_engine(), FENS, "relabel", actions=True):
        actions = parse_actions(row["actions"])
        assert set(actions) == {move.uci() for move in chess.Board(row["fen"]).legal_moves}
        scores = [score.order() for score in actions.values()]
        assert scores == sorted(scores, reverse=True)
        assert next(iter(actions)) == row["line"].split()[0]


@pytest.mark.parametrize("future", ["relabel", "pv", "random", "random-world"])
def test_the_best_actions_change_nothing_else(make_engine: Callable[..., str], future: str) -> None:
    """One search with MultiPV scores the root's best moves; line, value and future are those of a plain search."""
    rows, plain = rows_of(make_engine(), FENS, future, multipv=5), rows_of(make_engine(), FENS, future)
    full = rows_of(make_engine(), FENS, future, actions=True)
    for row, other, all_actions in zip(rows, plain, full, strict=True):
        assert row["actions"].split() == all_actions["actions"].split()[:5]
        assert row | {"actions": None} == other


def test_the_games_own_future_needs_no_engine() -> None:
    position = RootPosition(FENS[0], "p", 3, 0, "e2e4", 2000, "test", ("e2e4", "e7e5"), ended=False)
    (row,) = label_all([position], LabelSettings("played"))
    assert (row["line"], row["cp"], row["mate"], row["nodes"], row["ended"]) == ("e2e4 e7e5", None, None, 0, False)
    assert (row["split"], row["rating"], row["game"]) == ("test", 2000, 3)


@pytest.mark.engine
@pytest.mark.parametrize("future", ["relabel", "pv"])
def test_stockfish_lines_end_with_the_game(stockfish: str, future: str) -> None:
    (row,) = rows_of(stockfish, [MATE_IN_TWO], future, horizon=6)
    board = chess.Board(states(MATE_IN_TWO, row["line"])[-1])
    assert board.is_checkmate()
    assert row["ended"]
    values = parse_values(row["values"])
    assert [score.win() for score in values] == [1.0 if ply % 2 == 0 else 0.0 for ply in range(len(values))]
