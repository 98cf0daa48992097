"""Engine faults of every kind: each is noticed, retried once, then recorded with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import chess
import pytest

from diffusearch.data import labelling, uci_process
from diffusearch.data.labelling import Labeller, LabelSettings, Row
from diffusearch.data.oracle import Oracle, OracleSettings
from diffusearch.data.root_positions import RootPosition
from diffusearch.data.uci_process import Analysis, EngineFault, EngineProcess, SearchBudget, find_engine
from diffusearch.errors import UserError

START = chess.STARTING_FEN
OTHER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def label_all(positions: list[RootPosition], settings: LabelSettings) -> list[Row]:
    with Labeller(settings) as labeller:
        return list(labeller.label(positions))


def position(fen: str) -> RootPosition:
    return RootPosition(fen, "p", 0, 0, "e2e4", None, "train")


def settings(engine: str, timeout: float = 60.0) -> OracleSettings:
    return OracleSettings(engine, SearchBudget(nodes=1), SearchBudget(nodes=1), timeout=timeout)


BAD = {
    "crash": "crashed",
    "hang": "hung",
    "illegal": "illegal move a1h8",
    "none": "no score",
    "no-score-none": "no bestmove",
    "empty": "no bestmove",
    "unscored": "no score",
    "garbled": "unreadable analysis",
}


@pytest.mark.parametrize(("mode", "reason"), BAD.items())
def test_a_bad_answer_is_recorded_and_the_others_are_labelled(
    make_engine: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, reason: str
) -> None:
    listed = tmp_path / "listed"
    listed.write_text(START)
    oracle = settings(make_engine(mode, listed))
    search = EngineProcess.search

    def impatient(engine: EngineProcess, fen: str, *more: object) -> Analysis:
        """Only the search that hangs has a short time: a busy machine may take seconds for the others."""
        engine.timeout = 0.5 if mode == "hang" and fen == START else 600.0
        return search(engine, fen, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(EngineProcess, "search", impatient)
    rows = label_all([position(OTHER), position(START), position(OTHER)], LabelSettings("relabel", 2, oracle=oracle))
    assert [row["failed"] for row in rows] == [None, reason, None]
    assert rows[1]["line"] == ""
    assert rows[1]["cp"] is None
    assert rows[0] == rows[2]


def test_a_crash_is_retried_once(make_engine: Callable[..., str], tmp_path: Path) -> None:
    rows = label_all([position(START)], LabelSettings(oracle=settings(make_engine("crash-once", tmp_path / "seen"))))
    assert rows[0]["failed"] is None
    assert (tmp_path / "seen").exists()
    assert rows == (label_all([position(START)], LabelSettings(oracle=settings(make_engine()))))


def test_an_engine_that_always_fails_stops_the_run(
    make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "MAX_FAILURES", 3)
    many = [position(START)] * 8
    with pytest.raises(UserError, match="failed on 3 positions in a row"):
        (label_all(many, LabelSettings(oracle=settings(make_engine("illegal")))))


def test_an_engine_that_always_fails_stops_a_run_of_small_shards(
    make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "MAX_FAILURES", 3)
    with Labeller(LabelSettings(oracle=settings(make_engine("illegal")))) as labeller:
        assert all(row["failed"] for row in labeller.label([position(START)] * 2))
        with pytest.raises(UserError, match="failed on 3 positions in a row"):
            list(labeller.label([position(START)] * 2))


def test_a_search_in_seconds_has_its_time_and_the_timeout(
    make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --actions the seconds are those of each legal move: all of them may take longer than the timeout."""
    waited: list[float] = []
    until = EngineProcess._until

    def noted(engine: EngineProcess, word: str, seconds: float) -> list[str]:
        if word == "bestmove":
            waited.append(seconds)
        return until(engine, word, 600.0)

    monkeypatch.setattr(EngineProcess, "_until", noted)
    with Oracle(settings(make_engine())) as oracle:
        oracle.ask_all(chess.Board(), SearchBudget(seconds=5.0))
        oracle.ask(chess.Board(), SearchBudget(nodes=5))
    assert waited == [60.0 + 20 * 5.0, 60.0]


def test_an_engine_that_does_not_start_is_a_fault(
    make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineFault, match="crashed"):
        EngineProcess(make_engine("dead"), {}, 1.0)
    monkeypatch.setattr(uci_process, "START_SECONDS", 0.5)
    with pytest.raises(EngineFault, match="hung"):
        EngineProcess(make_engine("mute"), {}, 1.0)


def test_no_such_engine_is_the_users_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no-such-engine"):
        find_engine("no-such-engine")
    monkeypatch.setenv("DIFFUSEARCH_STOCKFISH", "/nowhere/another")
    with pytest.raises(UserError, match="another"):
        find_engine(None)
    script = tmp_path / "not-a-program"
    script.write_text("nonsense")
    script.chmod(0o755)
    with pytest.raises(UserError, match="cannot start"):
        EngineProcess(str(script), {}, 1.0)


def test_options_that_the_engine_lacks_are_not_set(make_engine: Callable[..., str]) -> None:
    engine = EngineProcess(make_engine(), {"Hash": 16, "Contempt": 1}, 5.0)
    engine.close()
    assert engine.options == {"Hash": 16}


def test_budgets_name_exactly_one_limit() -> None:
    assert SearchBudget(nodes=5).times(3) == SearchBudget(nodes=15)
    assert SearchBudget(depth=5).times(3) == SearchBudget(depth=5)
    assert SearchBudget(seconds=0.05).times(2).command() == "go movetime 100"
    for bad, words in (
        ({}, "a search has no limit; give one of --nodes, --depth, --seconds"),
        (
            {"nodes": 10_000_000, "depth": 1},
            "--nodes 10000000 and --depth 1 limit one search; give only one of --nodes",
        ),
        ({"nodes": -1}, "--nodes -1 is too small; give 1 or more"),
        ({"depth": 0}, "--depth 0 is too small; give 1 or more"),
        ({"seconds": 0.0004}, "--seconds 0.0004 is too small; give 0.001 or more"),
        ({"seconds": math.inf}, "--seconds inf is no finite number; give 0.001 or more"),
        ({"seconds": math.nan}, "--seconds nan is no finite number; give 0.001 or more"),
    ):
        with pytest.raises(UserError, match=words):
            SearchBudget(**bad)  # type: ignore[arg-type]


def test_the_best_actions_come_from_one_search(make_engine: Callable[..., str]) -> None:
    board = chess.Board()
    with Oracle(settings(make_engine())) as oracle:
        plain = oracle.ask(board, SearchBudget(nodes=1))
        all_actions = oracle.ask_all(board, SearchBudget(nodes=1)).actions
        for count in (1, 5, 64):
            answer = oracle.ask_best(board, SearchBudget(nodes=1), count)
            assert (answer.best, answer.score, answer.nodes) == (plain.best, plain.score, plain.nodes)
            assert list(answer.actions.items()) == list(all_actions.items())[:count]


def test_a_search_that_is_cut_off_gives_the_last_exact_scores(make_engine: Callable[..., str]) -> None:
    """The oracle's action first with its exact score, then by depth and rank; a lower bound is no score."""
    with Oracle(settings(make_engine())) as oracle:
        scores = oracle.ask_all(chess.Board(), SearchBudget(nodes=1)).actions
    first, second, third, fourth, *_ = scores
    with Oracle(settings(make_engine("cut-off"))) as oracle:
        answer = oracle.ask_best(chess.Board(), SearchBudget(nodes=1), 3)
    assert {move: score.cp for move, score in answer.actions.items()} == {
        first: scores[first].cp,
        second: scores[second].cp,
        fourth: 1,  # rank 1 at depth 1; `third` had rank 2 there and is one too many
    }
    assert list(answer.actions) == [first, second, fourth]
    assert answer.score == answer.actions[first]
    assert answer.nodes == 7
    assert third not in answer.actions


@pytest.mark.engine
@pytest.mark.parametrize("count", [1, 5, 64])
def test_stockfish_scores_the_best_actions(stockfish: str, count: int) -> None:
    boards = [
        chess.Board(),
        chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"),
        chess.Board("7k/8/8/8/8/8/4q3/7K w - - 0 1"),
    ]
    with Oracle(OracleSettings(stockfish, SearchBudget(nodes=5000), SearchBudget(nodes=500))) as oracle:
        for board in boards:
            answer = oracle.ask_best(board, SearchBudget(nodes=5000), count, 4)
            assert next(iter(answer.actions)) == answer.best.uci() == answer.line[0].uci()
            assert len(answer.actions) == min(count, board.legal_moves.count())
            assert answer.score == answer.actions[answer.best.uci()]
            assert {chess.Move.from_uci(move) for move in answer.actions} <= set(board.legal_moves)
            assert answer.nodes >= 100 or board.legal_moves.count() < 3
        again = oracle.ask_best(boards[0], SearchBudget(nodes=5000), count, 4)
        assert again == oracle.ask_best(boards[0], SearchBudget(nodes=5000), count, 4)


@pytest.mark.engine
def test_stockfish_gives_mates_and_every_action(stockfish: str) -> None:
    oracle = Oracle(OracleSettings(stockfish, SearchBudget(nodes=2000), SearchBudget(nodes=500)))
    with oracle:
        board = chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
        answer = oracle.ask_all(board, SearchBudget(nodes=500))
        assert answer.best.uci() == "a1a8"
        assert answer.score.mate == 1
        assert set(answer.actions) == {move.uci() for move in board.legal_moves}
        assert next(iter(answer.actions)) == "a1a8"
        assert oracle.describe()["name"].startswith("Stockfish")


@pytest.mark.engine
def test_stockfish_forgets_between_searches(stockfish: str) -> None:
    """The same answer whatever was searched before: hash, histories and MultiPV leave no trace."""
    with Oracle(OracleSettings(stockfish, SearchBudget(nodes=3000), SearchBudget(nodes=500))) as oracle:
        fresh = oracle.ask(chess.Board(OTHER), SearchBudget(nodes=3000), 6)
        oracle.ask(chess.Board(), SearchBudget(nodes=20_000))
        oracle.ask_all(chess.Board(OTHER), SearchBudget(nodes=500))
        assert oracle.ask(chess.Board(OTHER), SearchBudget(nodes=3000), 6) == fresh
