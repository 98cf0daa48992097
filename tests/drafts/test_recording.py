"""`diffusearch draft`: what is recorded, and that a killed recording goes on with nothing lost or doubled."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.drafts.conftest import tiny, write_run
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.data.draft_records import FACTS, MOVES, NO_MOVE, DraftRecords
from diffusearch.data.labelled import read_labelled
from diffusearch.drafts import recording
from diffusearch.drafts.recording import Recording, record
from diffusearch.errors import UserError
from diffusearch.inference.evaluation import Evaluation
from diffusearch.inference.run import Run
from diffusearch.tokens.drafts import NODES
from diffusearch.tokens.values import win_probability

LABELS = Path(__file__).parents[1] / "fixtures/labelled"
TRUNK = tiny()["model"]["trunk"]


@pytest.fixture
def run(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(recording, "SHARD", 8)
    return Run.load(run_folder)


def wanted(out: Path) -> Recording:
    return Recording(LABELS, out, drafts=3, limit=20, dynamics="rules")


def arrays(folder: Path) -> dict[str, np.ndarray]:
    """All records of a folder: the training split, then the validation split, each in the order of its shards."""
    records = DraftRecords(folder)
    parts = [records.train, records.validation]
    return {
        name: np.concatenate([part.take(np.arange(len(part)))[name] for part in parts if len(part)])
        for name in parts[0].take(np.arange(1))
    }


def test_a_folder_that_is_a_file_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match=r"file cannot be made \(.*\): choose another --out"):
        record(run, wanted(tmp_path / "file"))


def test_positions_are_recorded_with_drafts_and_the_answer(run: Run, tmp_path: Path) -> None:
    assert record(run, wanted(tmp_path)) == 20
    found = arrays(tmp_path)
    assert found["exists"].shape == (20, 3, NODES)
    assert found["hidden"].dtype == np.float16
    assert found["exists"][:, 0, 0].all()
    assert found["exists"][:, :, 3].any()  # second lines too
    assert found["priors"].shape == (20, MOVES)
    shares = np.exp(np.where(found["priors"] > NO_MOVE / 2, found["priors"], -np.inf))
    assert shares.sum(1) == pytest.approx(np.ones(20), abs=1e-3)
    assert (np.diff(shares, axis=1) <= 1e-7).all()  # likeliest first: the first three are drafted
    first = found["log_shares"][:, :, 0]
    assert first[found["exists"][:, :, 0]] == pytest.approx(found["priors"][:, :3][found["exists"][:, :, 0]], abs=1e-4)


def test_the_target_is_the_rank_of_the_oracles_move(run: Run, tmp_path: Path) -> None:
    record(run, wanted(tmp_path))
    found = arrays(tmp_path)
    rows = sorted(recording._rows(wanted(tmp_path)), key=lambda row: row["split"] != "train")  # as `arrays` has them
    ranks = []
    for row, evaluation in zip(rows, run.evaluate([chess.Board(row["fen"]) for row in rows]), strict=True):
        likelier = sorted(evaluation.priors.values(), reverse=True)
        ranks.append(likelier.index(evaluation.priors[chess.Move.from_uci(row["line"].split()[0])]))
    assert found["target"].tolist() == ranks
    assert len(set(ranks)) > 5
    assert found["train"].tolist() == [row["split"] == "train" for row in rows]


def test_scored_moves_are_at_their_places(run: Run, tmp_path: Path) -> None:
    """Two positions with some scored moves; centipawns and mates are from the mover's view, also for Black."""
    white, black = chess.STARTING_FEN, "4k3/8/8/8/8/8/4p3/K7 b - - 0 1"
    answers = [
        {"fen": white, "line": "g1f3 d7d5", "actions": "g1f3:50 e2e4:0 a2a4:-120"},
        {"fen": black, "line": "e2e1q", "actions": "e2e1q:#5 e8d7:-300"},
    ]
    labels = [next(read_labelled(LABELS)) | {"split": "train"} | answer for answer in answers]
    pq.write_table(pa.Table.from_pylist(labels), tmp_path / "scored.parquet")
    record(run, Recording(tmp_path / "scored.parquet", tmp_path / "out", drafts=2, dynamics="rules"))
    found = arrays(tmp_path / "out")
    for at, label in enumerate(recording._rows(Recording(tmp_path / "scored.parquet", tmp_path))):
        (evaluation,) = run.evaluate([chess.Board(label["fen"])])
        moves = sorted(evaluation.priors, key=evaluation.priors.__getitem__, reverse=True)
        scores = {"g1f3": 50, "e2e4": 0, "a2a4": -120} if label["fen"] == white else {"e2e1q": None, "e8d7": -300}
        wanted_wins = np.full(MOVES, np.nan)
        for place, move in enumerate(moves):
            if move.uci() in scores:
                cp = scores[move.uci()]
                wanted_wins[place] = win_probability(cp, 5 if cp is None else None)
        assert np.isfinite(wanted_wins).sum() == len(scores)
        np.testing.assert_allclose(found["wins"][at], wanted_wins, rtol=1e-6)
        assert moves[found["target"][at]].uci() == label["line"].split()[0]


def test_a_move_beyond_the_likeliest_is_no_target() -> None:
    """A position of 218 moves: the 64 likeliest have places, the others are neither targets nor scored."""
    board = chess.Board("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    moves = list(board.legal_moves)
    weights = np.arange(len(moves), 0, -1.0)
    evaluation = Evaluation(dict(zip(moves, (weights / weights.sum()).tolist(), strict=True)), 0.5)
    for rank, target in ((0, 0), (MOVES - 1, MOVES - 1), (MOVES, -1), (len(moves) - 1, -1)):
        uci = moves[rank].uci()
        found = recording._answer({"line": uci, "actions": f"{uci}:100", "split": "validation"}, evaluation)
        assert found["target"] == target
        assert np.flatnonzero(np.isfinite(found["wins"])).tolist() == ([] if target < 0 else [target])
        assert not found["train"]


def test_a_killed_recording_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    record(run, wanted(whole))

    def killed(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(run, wanted(broken), killed)
    with pytest.raises(UserError, match=r"holds 8 of 20 positions and is not complete: run the same command again"):
        DraftRecords(broken)
    (broken / "shard-000001.partial").mkdir()  # half a shard
    made: list[int] = []
    original = recording._arrays
    monkeypatch.setattr(recording, "_arrays", lambda *args: made.append(len(args[2])) or original(*args))
    record(run, wanted(broken))
    assert sum(made) == 12  # the first shard is not made again
    for name, array in arrays(whole).items():
        np.testing.assert_array_equal(array, arrays(broken)[name], err_msg=name)
    assert (broken / FACTS).read_text() == (whole / FACTS).read_text()


def test_a_second_writer_is_refused(run: Run, tmp_path: Path) -> None:
    refusals: list[str] = []

    def second(done: int, total: int) -> None:
        with pytest.raises(UserError) as refusal:
            record(run, wanted(tmp_path))
        refusals.append(str(refusal.value))

    assert record(run, wanted(tmp_path), second) == 20
    assert refusals == [f"another `diffusearch draft` is writing to {tmp_path}: wait for it or use another --out"] * 3
    assert len(arrays(tmp_path)["target"]) == 20


def test_a_folder_of_an_earlier_version_is_completed(run: Run, tmp_path: Path) -> None:
    """It has neither the number of positions nor a mark that they are all there."""
    record(run, wanted(tmp_path))
    before = arrays(tmp_path)
    facts = json.loads((tmp_path / FACTS).read_text())
    del facts["positions"], facts["complete"]
    (tmp_path / FACTS).write_text(json.dumps(facts))
    with pytest.raises(UserError, match="holds 20 of an unknown number of positions"):
        DraftRecords(tmp_path)
    record(run, wanted(tmp_path))
    for name, array in arrays(tmp_path).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


def test_other_settings_are_refused(run: Run, tmp_path: Path) -> None:
    record(run, wanted(tmp_path))
    with pytest.raises(UserError, match="was begun with drafts 3, not 4"):
        record(run, replace(wanted(tmp_path), drafts=4))


def test_games_of_another_set_are_left_out(run: Run, tmp_path: Path) -> None:
    rows = list(read_labelled(LABELS))
    keep = rows[0]["pool"], rows[0]["game"]
    others = [row for row in rows if (row["pool"], row["game"]) != keep]
    pq.write_table(pa.Table.from_pylist(others), tmp_path / "others.parquet")
    own = [row for row in rows if (row["pool"], row["game"]) == keep]
    out = replace(wanted(tmp_path / "out"), limit=None, exclude=(tmp_path / "others.parquet",))
    assert record(run, out) == len(own)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "all.parquet")
    with pytest.raises(UserError, match="no position outside the games of --exclude"):
        record(run, replace(out, out=tmp_path / "none", exclude=(tmp_path / "all.parquet",)))


def test_the_verb(run_folder: Path, tmp_path: Path) -> None:
    words = ["draft", str(run_folder), str(LABELS), "--limit", "4", "--drafts", "2", "--out", str(tmp_path / "drafts")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "4 positions with drafts" in result.output
    assert len(arrays(tmp_path / "drafts")["target"]) == 4
    refused = CliRunner().invoke(app, [*words, "--dynamics", "magic"])
    assert isinstance(refused.exception, UserError)
    assert "give imagined or rules" in str(refused.exception)


@pytest.mark.parametrize(
    ("model", "dynamics", "lacking"),
    [
        ({"root_value": False}, "rules", ["values (model.root_value = true)"]),
        ({"trunk": TRUNK | {"attention": "full"}}, "rules", ["attention = 'prefix'"]),
        ({"trunk": TRUNK | {"attention": "full"}, "root_value": False}, "imagined", ["root_value", "'prefix'"]),
        ({"paradigm": "s-a"}, "imagined", ["predicted states (s-asa by absorbing diffusion; --dynamics rules"]),
        ({"paradigm": "s-v", "root_value": False}, "rules", ["a policy (it is s-v or sa-v)"]),
    ],
)
def test_a_run_that_cannot_draft_is_told_what_it_lacks(
    tmp_path: Path, model: dict[str, object], dynamics: str, lacking: list[str]
) -> None:
    (tmp_path / "run").mkdir()
    folder, out = write_run(tmp_path / "run", tiny(**model)), tmp_path / "out"
    words = ["draft", str(folder), str(LABELS), "--limit", "4", "--dynamics", dynamics, "--out", str(out)]
    refusal = CliRunner().invoke(app, words).exception
    assert isinstance(refusal, UserError)  # `main` prints it and exits with 2
    assert "the run 'tiny' cannot draft: it lacks " in str(refusal)
    assert all(what in str(refusal) for what in lacking)
    assert str(refusal).count(" and ") == len(lacking) - 1
    assert not out.exists()


def test_drafts_by_the_rules_need_no_predicted_states(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    run = Run.load(write_run(tmp_path / "run", tiny(paradigm="s-a")))
    assert not run.predicts_states
    assert record(run, replace(wanted(tmp_path / "out"), limit=4)) == 4
    assert arrays(tmp_path / "out")["exists"][:, :, :3].any((0, 1)).all()
