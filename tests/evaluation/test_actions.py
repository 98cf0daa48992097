from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pyarrow as pa
import pytest
from tests.evaluation.conftest import LABELLED

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import action_accuracy, rating_band
from diffusearch.evaluation.labelled_positions import LabelledPosition, read_positions
from diffusearch.inference.imagination import Imagination


def every(number: int, **scores: str) -> str:
    """The column `actions` of a row of LABELLED: a score for every legal move, -900 where none is given."""
    moves = [move.uci() for move in chess.Board(LABELLED[number][0]).legal_moves]
    return " ".join(f"{move}:{score}" for move, score in (dict.fromkeys(moves, "-900") | scores).items())


def test_oracle_scores_everything_in_batches(labelled: Callable[..., Path], oracle: Any) -> None:
    positions = read_positions(labelled())
    done: list[int] = []
    figures = action_accuracy(oracle, positions, batch=3, progress=done.append)
    assert figures["n"] == 4
    assert figures["accuracy"] == 1.0
    assert figures["interval"][1] == 1.0
    assert {name: share["n"] for name, share in figures["by_phase"].items()} == {
        "opening": 1,
        "middlegame": 1,
        "endgame": 2,
    }
    assert oracle.batches == [3, 1]
    assert done == [3, 1]
    assert figures["by_rating"] is None
    assert figures["within_centipawns"] is None
    assert figures["legality"] is None


def test_one_wrong_answer_costs_its_share(labelled: Callable[..., Path], oracle: Any) -> None:
    positions = read_positions(labelled())
    oracle.answers[chess.Board(positions[3].fen).epd()] = "g1f1"
    figures = action_accuracy(oracle, positions)
    assert figures["accuracy"] == 0.75
    assert figures["by_phase"]["endgame"]["accuracy"] == 0.5


def test_rating_and_values_are_used_where_the_file_has_them(labelled: Callable[..., Path], table: Any) -> None:
    values = [every(0, f8g7="30", b8c6="0"), every(1, c8e6="#2", d8d5="400"), None, None]
    path = labelled(rating=pa.array([1100, 1210, None, 1390], pa.int16()), actions=values)
    positions = read_positions(path)
    agent = table({chess.Board(positions[0].fen).epd(): "b8c6", chess.Board(positions[1].fen).epd(): "d8d5"})
    figures = action_accuracy(agent, positions)
    assert {name: share["n"] for name, share in figures["by_rating"].items()} == {"1000-1199": 1, "1200-1399": 2}
    within = figures["within_centipawns"]  # the losses are 30 centipawns and a mate
    assert [within[cp]["accuracy"] for cp in ("10", "50", "200")] == [0.0, 0.5, 0.5]
    assert within["10"]["n"] == 2


def test_scores_of_some_moves_measure_no_centipawns(labelled: Callable[..., Path], table: Any) -> None:
    start = chess.Board()
    bad = ["e2e4", "g2g4", "h2h4", "a2a3"]  # of which only the first has a score
    path = labelled(rows=[(start.fen(), "e2e4")] * 4, actions=["e2e4:30 d2d4:25"] * 4)
    positions = read_positions(path)
    agents = [table({start.epd(): move}) for move in bad]
    assert [action_accuracy(agent, positions)["within_centipawns"] for agent in agents] == [None] * 4
    complete = labelled(actions=[every(0, f8g7="30"), None, None, None])
    assert len(read_positions(complete)[0].scores or {}) == chess.Board(LABELLED[0][0]).legal_moves.count()


def test_an_illegal_move_without_the_mask_costs_more_than_anything(labelled: Callable[..., Path], table: Any) -> None:
    positions = read_positions(labelled(actions=[every(0, f8g7="30"), None, None, None]), limit=1)
    agent = table({chess.Board(positions[0].fen).epd(): "a1a8"})
    agent.decoding = SimpleNamespace(legal=False)
    figures = action_accuracy(agent, positions)
    assert figures["accuracy"] == 0.0
    assert figures["within_centipawns"]["200"] | {"interval": None} == {"n": 1, "accuracy": 0.0, "interval": None}


def test_raw_legality_stands_apart(labelled: Callable[..., Path], table: Any) -> None:
    positions = read_positions(labelled())[:2]

    def imagined(legal: bool, mass: float) -> Imagination:
        return Imagination("", "", {}, (), raw_legal=legal, legal_mass=mass)

    keys = [chess.Board(position.fen).epd() for position in positions]
    agent = table({}, {keys[0]: imagined(True, 0.9), keys[1]: imagined(False, 0.5)})
    legality = action_accuracy(agent, positions)["legality"]
    assert legality["raw"]["accuracy"] == 0.5
    assert legality["mean_legal_mass"] == pytest.approx(0.7)


def test_an_illegal_move_is_an_error_and_not_a_miss(labelled: Callable[..., Path]) -> None:
    class Cheat(Agent):
        def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
            return Decision(chess.Move.from_uci("a1a8"), {})

    with pytest.raises(RuntimeError, match="illegal move a1a8"):
        action_accuracy(Cheat(), read_positions(labelled()))


def test_limit_takes_the_first_rows_and_a_seed_draws(labelled: Callable[..., Path]) -> None:
    path = labelled()
    everything = read_positions(path)
    assert read_positions(path, limit=2) == everything[:2]
    drawn = read_positions(path, limit=2, seed=5)
    assert drawn == read_positions(path, limit=2, seed=5)
    assert len(set(drawn)) == 2
    assert any(read_positions(path, limit=2, seed=s) != everything[:2] for s in range(10))
    with pytest.raises(UserError, match="--limit 0"):
        read_positions(path, limit=0)


def test_a_split_keeps_its_games_only(labelled: Callable[..., Path]) -> None:
    path = labelled(split=["train", "test", "validation", "test"])
    assert [position.action for position in read_positions(path, split="test")] == ["c8e6", "a1a8"]
    with pytest.raises(UserError, match="split"):
        read_positions(path, split="exam")


def test_a_folder_is_all_its_files_by_name(labelled: Callable[..., Path], tmp_path: Path) -> None:
    labelled("b.parquet")
    labelled("a.parquet")
    assert len(read_positions(tmp_path)) == 8


def test_bad_files_are_named(tmp_path: Path, labelled: Callable[..., Path]) -> None:
    with pytest.raises(UserError, match="absent"):
        read_positions(tmp_path / "absent.parquet")
    with pytest.raises(UserError, match="no labelled position"):
        read_positions(labelled(rows=[("8/8/8/4k3/8/4K3/8/8 w - - 0 1", "")]))


def test_an_illegal_label_is_no_wrong_answer(tmp_path: Path, labelled: Callable[..., Path]) -> None:
    bad = (chess.STARTING_FEN, "e9e9 zz")
    labelled("a.parquet")
    labelled("b.parquet", rows=[LABELLED[0], ("8/8/8/4k3/8/4K3/8/8 w - - 0 1", ""), bad])
    words = "b.parquet, row 2: the line 'e9e9 zz' is not legal from '" + chess.STARTING_FEN + "': run `diffusearch data"
    with pytest.raises(UserError, match=re.escape(words)):
        read_positions(tmp_path)
    with pytest.raises(UserError, match="'e2e5' is not legal"):
        read_positions(labelled(rows=[(chess.STARTING_FEN, "e2e5")]))
    assert len(read_positions(tmp_path / "b.parquet", limit=1)) == 1  # what is not measured is not checked


def test_rows_behind_the_last_one_are_told_apart_from_an_empty_file(labelled: Callable[..., Path]) -> None:
    with pytest.raises(UserError, match=r"holds no labelled position behind its first 4: give a smaller --skip"):
        read_positions(labelled(), skip=4)


def test_phases_and_bands() -> None:
    assert LabelledPosition(chess.STARTING_FEN, ()).phase == "opening"
    assert (
        LabelledPosition("r1bq1rk1/pp3ppp/2n2n2/8/8/2N2N2/PP3PPP/R1BQ1RK1 w - - 0 17", (), ply=32).phase == "middlegame"
    )
    assert LabelledPosition("3r2k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 5", (), ply=8).phase == "endgame"
    assert [rating_band(rating) for rating in (399, 400, 1999)] == ["0200-0399", "0400-0599", "1800-1999"]
