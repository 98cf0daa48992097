"""`reproduce all` at the tiniest scale: from games to the page with real runs, counted calls and kills."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from diffusearch.data.labelled import read_labelled
from diffusearch.errors import UserError
from diffusearch.reproduce import cases, trained
from diffusearch.reproduce.gathered import gather
from diffusearch.reproduce.jobs import MeasureJob, TrainJob, ordered_runs
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import SCALES
from diffusearch.reproduce.timed import INITIAL, TimeJob
from diffusearch.reproduce.trained import agent_of
from diffusearch.reproduce.whole import Whole, make_all, missing_runs, planned
from diffusearch.reproduce.work import read_calls

pytestmark = pytest.mark.slow

TINY = SCALES["tiny"]
GAMES = Path(__file__).parents[1] / "fixtures" / "games.pgn"
FAKE = Path(__file__).parents[1] / "data" / "fake_engine.py"
PUZZLES = """PuzzleId,FEN,Moves,Rating,Themes
hard,6k1/4rppp/8/8/8/8/8/R5K1 b - - 0 1,e7b7 a1a8,1900,mate
easy,7k/4r1pp/8/8/8/8/8/1R5K b - - 0 1,e7e6 b1b8,600,mate
"""
STATE, PLY = 9, 10  # places of a state (8 ranks and the rest), and with its move


def write_engine(folder: Path) -> str:
    script = folder / "engine"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" good\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "puzzles.csv").write_text(PUZZLES)
    setting = Setting(
        Path(),
        folder / "out",
        scale=TINY,
        recipe=TINY.recipe,
        puzzles=folder / "puzzles.csv",
        games=TINY.match_games,
        pgn=GAMES,
        docs=folder / "docs",
    )
    return planned(setting, engine=write_engine(folder))


@pytest.fixture(scope="module")
def page(whole: Whole, calls: Any) -> Iterator[str]:
    """The page, after a first attempt that was interrupted in the middle of the runs."""
    measure, trained = MeasureJob.__call__, []
    train = TrainJob.__call__

    def counted(job: MeasureJob) -> str:
        calls.now = job.key
        try:
            return measure(job)
        finally:
            calls.now = ""

    def stopped(job: TrainJob) -> str:
        trained.append(job.run.name)
        if len(trained) == 4:
            raise KeyboardInterrupt
        return train(job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MeasureJob, "__call__", counted)
        patch.setattr(TrainJob, "__call__", stopped)
        with pytest.raises(KeyboardInterrupt):
            make_all(whole)
        path = make_all(whole)
        assert len(trained) == len(set(trained)) + 1  # only the one that was stopped is trained twice
        yield path.read_text()


def test_every_run_is_trained_and_every_row_measured(whole: Whole, page: str) -> None:
    runs = ordered_runs(whole.exhibits)
    assert all(TrainJob(run, whole.setting).done() for run in runs)
    assert f"{len(runs)} of {len(runs)} runs are trained" in page
    tables = page.partition("## Verdicts")[2].partition("## Runs")[0]
    assert "not yet" not in tables
    assert "not measured yet" not in page


def test_the_page_has_tables_figures_and_verdicts(whole: Whole, page: str) -> None:
    for title in ("Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 8", "Figure 4 (right)"):
        assert title in page
    assert page.partition("### Claim by claim")[2].count("**: ") == 12  # claims with their verdicts
    assert "**A usual run here has 1.2e-05 % of the paper's record-passes.**" in page  # 2 steps of 8
    assert "| Train others |" in page
    assert "| 659,576 | 10,000 |" in page  # the paper's
    assert "S-AVSAV | s_0 `" in page
    pictures = {line.partition("](")[2].rstrip(")") for line in page.splitlines() if line.startswith("![")}
    assert len(pictures) >= 10
    assert all((whole.setting.pages / one).is_file() for one in pictures)


# what a row asks the network for: calls for a batch of positions, places of each
ASKED = {
    "diffusearch_s-asa": (3, 3 * PLY),
    "diffusearch_s-asa-seed1": (3, 3 * PLY),
    "diffusearch_random-policy": (3, 3 * PLY),
    "diffusearch_random-world": (3, 3 * PLY),
    "diffusearch_s-ass": (3, 3 * STATE + 1),
    "diffusearch_s-aa": (3, STATE + 3),
    "diffusearch_s-avav": (3, STATE + 6),
    "diffusearch_s-avsav": (3, 3 * (PLY + 1)),
    "diffusearch_gaussian": (3, 3 * PLY),
    "diffusearch_multinomial": (3, 3 * PLY),
    "diffusearch_constant": (3, 3 * PLY),
    "diffusearch_s-asa_steps=1_order=confidence": (1, 3 * PLY),
    "diffusearch_s-asa_steps=3_order=random": (3, 3 * PLY),
    "diffusearch_s-asa_carry=keep": (3, 3 * PLY),
    "diffusearch_s-asa-h2": (3, 2 * PLY),
    "diffusearch_s-asa-single_horizon=2": (3, 2 * PLY),
    "diffusearch_s-asa-single_horizon=3": (3, 3 * PLY),  # farther than it was trained
    "direct_direct": (1, 3 * PLY),
    "s-a_s-a": (1, PLY),
    "s-a_s-a-full": (1, PLY),
}


@pytest.mark.parametrize("key", ASKED)
def test_rows_ask_what_their_method_says(calls: Any, page: str, key: str) -> None:
    seen = calls.seen[f"actions-{key}"]
    count, places = ASKED[key]
    assert {size for _, size in seen} == {places}
    if key != "diffusearch_s-aa":  # three targets may all be fixed before the last step
        assert [records for records, _ in seen] == [TINY.test_actions] * count


def test_autoregressive_rows_go_place_by_place(calls: Any, page: str) -> None:
    seen = calls.seen["actions-autoregressive_s-asa-autoregressive"]
    assert seen == [(TINY.test_actions, STATE)] + [(TINY.test_actions, 1)] * (3 * PLY - STATE - 1)


def test_seeds_and_sizes_are_what_they_say(whole: Whole, page: str) -> None:
    from diffusearch.training.recipe import load_recipe

    def recipe(name: str) -> Any:
        return load_recipe(whole.setting.runs / name / "recipe.toml")

    assert (recipe("s-asa").seed, recipe("s-asa-seed1").seed) == (0, 1)
    assert recipe("s-asa-2").model.trunk.layers == 2
    assert recipe("s-asa-single").horizons_by == "record"
    assert [source.games for source in recipe("s-asa-9").data.sources] == [6, 3]
    assert recipe("s-a").model.trunk.attention == "causal"
    assert recipe("random-world").data.sources[0].path.endswith("random-world")


def test_nothing_is_done_twice(whole: Whole, page: str, calls: Any) -> None:
    folders = (whole.setting.out, whole.setting.results)
    before = {path: path.stat().st_mtime_ns for folder in folders for path in folder.rglob("*.json*")}
    told: list[str] = []
    make_all(whole, told.append)
    assert told == []
    after = {path: path.stat().st_mtime_ns for path in before}
    assert after == before


def test_a_longer_test_measures_anew(whole: Whole, page: str) -> None:
    job = MeasureJob(whole.exhibits["main"].rows[0], "actions", whole.setting)
    assert job.done()
    assert not replace(job, setting=replace(whole.setting, limit=5)).done()
    assert json.loads(job.result.read_text())["n"] == TINY.test_actions


# --- the kept results are enough to go on elsewhere ---------------------------------------------------------------


@pytest.fixture
def elsewhere(whole: Whole, page: str, tmp_path: Path) -> Whole:
    """Another machine: a copy of the results and the test positions, no other labels and no runs."""
    shutil.copytree(whole.setting.pages, tmp_path / "docs")
    shutil.copytree(whole.setting.labels / "test", tmp_path / "out" / "labels" / "test")
    changed = replace(whole.setting, docs=tmp_path / "docs")
    for name in ("out", "runs", "labels", "actions"):
        old = getattr(whole.setting, name)
        changed = replace(changed, **{name: tmp_path / "out" / old.relative_to(whole.setting.out)})
    return replace(whole, setting=changed)


def test_nothing_is_done_elsewhere_that_is_kept(elsewhere: Whole, page: str) -> None:
    told: list[str] = []
    assert make_all(elsewhere, told.append).read_text() == page
    assert told == []
    assert not elsewhere.setting.runs.exists()


def test_only_what_is_missing_is_made_elsewhere(elsewhere: Whole) -> None:
    job = MeasureJob(elsewhere.exhibits["training"].rows[2], "actions", elsewhere.setting)
    assert job.key == "actions-diffusearch_gaussian"
    before = job.figures()
    job.result.unlink()
    told: list[str] = []
    make_all(elsewhere, told.append)
    assert [path.name for path in elsewhere.setting.runs.iterdir()] == ["gaussian"]
    assert {path.name for path in elsewhere.setting.labels.iterdir()} == {"oracle", "test"}
    assert len([line for line in told if "measured in" in line]) == 1
    after = job.figures()
    assert before is not None
    assert after is not None
    assert before["runs"]["gaussian"]["labels"] == after["runs"]["gaussian"]["labels"]  # labelling repeats itself
    assert before["outcomes"] == after["outcomes"]


def test_results_on_other_labels_do_not_count(elsewhere: Whole) -> None:
    job = MeasureJob(elsewhere.exhibits["main"].rows[0], "actions", elsewhere.setting)
    found = json.loads(job.result.read_text())
    assert job.done()
    found["runs"]["s-a"]["labels"] = {"test": "of another engine"}
    job.result.write_text(json.dumps(found))
    assert not job.done()


def test_results_of_an_earlier_network_do_not_count(elsewhere: Whole) -> None:
    """A run that is trained again is another network: its curve must not mix the two."""
    row = elsewhere.exhibits["main"].rows[0]
    actions, puzzles = (MeasureJob(row, metric, elsewhere.setting) for metric in ("actions", "puzzles"))
    found = json.loads(puzzles.result.read_text())
    found["runs"]["s-a"]["weights"], found["date"] = "of another training", "2999-01-01T00:00:00+00:00"
    puzzles.result.write_text(json.dumps(found))
    assert puzzles.done()
    assert not actions.done()
    assert "s-a" in [job.run.name for job in missing_runs(elsewhere)]
    found["date"] = "1999-01-01T00:00:00+00:00"
    puzzles.result.write_text(json.dumps(found))
    assert actions.done()
    assert not puzzles.done()


def test_games_of_an_earlier_network_are_told(elsewhere: Whole, page: str) -> None:
    from diffusearch.reproduce.report import write_report

    assert "trained again" not in page
    file = elsewhere.setting.results / "tournament.json"
    found = json.loads(file.read_text())
    found["runs"]["s-a"]["weights"] = "of another training"
    file.write_text(json.dumps(found))
    assert "The games were played with `s-a` trained again: same recipe" in write_report(elsewhere).read_text()


def test_pictures_of_other_runs_are_drawn_anew(elsewhere: Whole) -> None:
    exhibit = elsewhere.exhibits["cases"]
    assert cases.kept(exhibit, elsewhere.setting)
    assert cases.kept(replace(exhibit, rows=exhibit.rows[1:]), elsewhere.setting) is None
    cases.files(elsewhere.setting)[0].unlink()
    assert cases.kept(exhibit, elsewhere.setting) is None


def test_a_run_whose_clock_was_cut_short_goes_on(tmp_path: Path) -> None:
    (tmp_path / "seconds.jsonl").write_text('{"call": "a", "processor": 2.0, "wall": 3.0}\n{"call": "b", "proc')
    with trained.clock(tmp_path):
        pass
    cost = trained.training_cost(tmp_path)
    assert cost is not None
    assert cost.calls == 2
    assert cost.seconds >= 2.0


def test_results_hold_no_test_data_and_no_paths(whole: Whole, page: str) -> None:
    texts = [path.read_text() for path in whole.setting.results.glob("*.json")]
    fens = {row["fen"] for row in read_labelled(whole.setting.labels / "test")}
    assert len(fens) == TINY.test_actions
    for text in (*texts, page):
        assert str(whole.setting.out.parent) not in text
        assert not [fen for fen in fens if fen.split()[0] in text]
    kept = json.loads((whole.setting.results / "actions-s-a_s-a.json").read_text())
    assert set(kept["outcomes"]) <= {"0", "1"}
    assert len(kept["outcomes"]) == TINY.test_actions
    assert kept["outcomes"].count("1") == round(kept["accuracy"] * kept["n"])


def test_the_times_of_a_table_are_one_measurement(whole: Whole, page: str) -> None:
    job = TimeJob(whole.exhibits["depth"], whole.setting)
    entries = job.entries()
    assert list(entries) == [agent_of(row) for row in whole.exhibits["depth"].rows]
    assert {entry["n"] for entry in entries.values()} == {TINY.test_actions}
    weights = trained.about(job.runs[0], whole.setting)["weights"]
    assert entries["mcts:s-a,s-v?simulations=2"]["weights"]["s-a"] == weights
    assert INITIAL not in str(entries)  # everything was trained before
    assert "every row decides once, in turns" in page


def test_times_alone_train_only_the_searches_and_take_initial_weights(elsewhere: Whole) -> None:
    """The network calls of joint denoising are the same whatever the weights are."""
    job = TimeJob(elsewhere.exhibits["depth"], elsewhere.setting)
    before, digest = job.entries(), job.digest()
    job.result.unlink()
    MeasureJob(elsewhere.exhibits["training"].rows[2], "actions", elsewhere.setting).result.unlink()
    told: list[str] = []
    make_all(replace(elsewhere, only=("latency",)), told.append)
    assert {path.name for path in elsewhere.setting.runs.iterdir()} == {"s-a", "s-v"}
    assert [line.partition(":")[0] for line in told if "timed on" in line] == ["latency-depth"]
    after = job.entries()
    assert job.digest() == digest
    assert after["diffusearch:s-asa"]["weights"] == {"s-asa": INITIAL}
    assert set(after["mcts:s-a,s-v?simulations=2"]["weights"]) == {"s-a", "s-v"}
    assert INITIAL not in after["mcts:s-a,s-v?simulations=2"]["weights"].values()
    denoisers = [agent for agent in after if agent.startswith("diffusearch")]
    assert [after[agent]["nodes"] for agent in denoisers] == [before[agent]["nodes"] for agent in denoisers]
    assert (
        "with the initial weights of their recipes are timed `s-asa"
        in (elsewhere.setting.pages / "reproduction.md").read_text()
    )


def test_the_training_time_of_a_run_is_that_of_its_newest_training(elsewhere: Whole) -> None:
    """Two trainings to the same weights: every row of the run tells the later one's time."""
    row = elsewhere.exhibits["main"].rows[0]
    actions, puzzles = (MeasureJob(row, metric, elsewhere.setting) for metric in ("actions", "puzzles"))
    for job, date, seconds in ((actions, "2999-01-01", 60.0), (puzzles, "2999-01-02", 90.0)):
        found = json.loads(job.result.read_text())
        found["date"], found["runs"]["s-a"]["processor_seconds"] = date, seconds
        job.result.write_text(json.dumps(found))
    found = gather(elsewhere.exhibits, elsewhere.setting)
    assert found.runs["s-a"]["processor_seconds"] == 90.0
    assert found.training["main", "S-A, 6 games"][0] == 90.0
    assert found.training["paradigms", "S-A, Transformer"][0] == 90.0


def test_the_ledger_has_every_call(whole: Whole, page: str) -> None:
    interrupted, whole_call = read_calls(whole.setting.results)
    assert set(interrupted.processor_seconds) == {"labels", "training", "measuring"}
    assert set(whole_call.processor_seconds) == {"training", "measuring", "games"}
    assert "in 2 calls of the command" in page


def test_a_damaged_result_is_named(elsewhere: Whole) -> None:
    job = MeasureJob(elsewhere.exhibits["main"].rows[0], "actions", elsewhere.setting)
    job.result.write_text("[")
    with pytest.raises(UserError, match=f"{job.result.name} is no JSON"):
        job.done()


def test_the_plan_says_what_is_done(whole: Whole, page: str) -> None:
    from diffusearch.reproduce.budget import whole_plan

    text = "\n".join(whole_plan(whole, seconds=0.0))
    assert "oracle: labelled" in text
    assert "s-asa: trained" in text
    assert "left to do on this machine: about 0.0 core-hours" in text


def test_the_plan_of_some_measurements_has_no_games(elsewhere: Whole) -> None:
    from diffusearch.reproduce.budget import whole_plan

    some = replace(elsewhere, only=("tree-depth",))
    lines = list(whole_plan(some, seconds=0.0))
    count = len(some.measurements)
    assert 0 < count < len(elsewhere.measurements)
    assert [line for line in lines if line.startswith(f"measurements: {count} of {count} done")]
    assert not [line for line in lines if line.startswith("tournament")]


def test_the_plan_leaves_out_what_no_missing_result_needs(elsewhere: Whole) -> None:
    from diffusearch.reproduce.budget import whole_plan

    MeasureJob(elsewhere.exhibits["training"].rows[2], "actions", elsewhere.setting).result.unlink()
    lines = [line.strip() for line in whole_plan(elsewhere, seconds=0.0)]
    assert [line for line in lines if line.startswith("gaussian: not begun; ")]
    assert "s-asa: not needed, its results are kept" in lines
    assert "random: not needed, its results are kept" in lines
    assert [line for line in lines if line.startswith("oracle: ") and line.endswith(" core-hours")]
