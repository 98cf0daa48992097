"""Bad input is refused in a sentence before anything is trained or measured."""

from __future__ import annotations

import sys
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from diffusearch.errors import UserError
from diffusearch.reproduce.catalogue import EXHIBITS
from diffusearch.reproduce.checks import check, check_base, check_settings
from diffusearch.reproduce.driver import make
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.plan import Setting

usage = namedtuple("usage", "total used free")
DATA_SIZE, DEPTH, FUTURE_QUALITY = (EXHIBITS[name] for name in ("data-size", "depth", "future-quality"))
LAYERS, MAIN, STEPS, TRAINING = (EXHIBITS[name] for name in ("layers", "main", "steps", "training"))


@pytest.fixture(autouse=True)
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: object, **__: object) -> None:
        raise AssertionError("training began")

    monkeypatch.setattr("diffusearch.training.loop.train", train)


@pytest.fixture
def training(setting: Setting, tmp_path: Path) -> Setting:
    return replace(setting, train=True, runs=tmp_path / "runs")


@pytest.mark.parametrize(
    ("one", "change", "theirs"),
    [
        (DEPTH, "model.horizon=4", "model.horizon"),
        (LAYERS, "model.trunk.layers=2", "model.trunk.layers"),
        (LAYERS, "model.trunk={layers=2}", "model.trunk.attention"),
        (DATA_SIZE, "data.sources=[{path='x'}]", "data.sources"),
        (TRAINING, "process.kind=gaussian", "process.kind"),
        (MAIN, "watch.patience=1", "watch.patience"),
    ],
)
def test_set_cannot_make_rows_alike(setting: Setting, one: Exhibit, change: str, theirs: str) -> None:
    with pytest.raises(UserError, match=rf"would override {theirs}, which rows of `{one.name}` set"):
        make(one, replace(setting, settings=(change,)))


def test_set_changes_what_no_row_sets(setting: Setting) -> None:
    for one in EXHIBITS.values():
        check_settings(one, replace(setting, settings=("optimiser.rate=1e-3",)))
    check_settings(STEPS, replace(setting, settings=("model.horizon=3",)))
    with pytest.raises(UserError, match="sets for each run"):
        check_settings(STEPS, replace(setting, settings=("name=mine",)))


def test_a_base_that_does_not_fit_is_refused_with_those_that_do(setting: Setting) -> None:
    with pytest.raises(UserError, match=r"'laptop' does not fit `training` \(run \S+: .*--recipe .*paper-10k"):
        check_base(TRAINING, replace(setting, recipe="laptop"))
    with pytest.raises(UserError, match="no recipe 'labtop'"):
        check_base(TRAINING, replace(setting, recipe="labtop"))
    for one in EXHIBITS.values():
        check_base(one, replace(setting, recipe="paper-10k"))


def test_labels_of_too_short_a_horizon_are_refused(training: Setting) -> None:
    with pytest.raises(UserError, match=r"s-asa-h5 needs lines of 5 plies, .* has 4: label with `--horizon 5`"):
        make(DEPTH, training)


def test_labels_that_do_not_exist_are_refused(training: Setting, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"random-world trains on .*10k-random-world, .*--labels"):
        make(FUTURE_QUALITY, replace(training, labels=tmp_path))


def test_action_values_need_labels_with_actions(training: Setting, actions: Path, tmp_path: Path) -> None:
    source = tmp_path / "plain.parquet"
    columns: dict[str, Any] = parquet.read_table(actions).to_pydict()
    columns["mate"] = pa.nulls(2, pa.int16())
    parquet.write_table(pa.table(columns), source)
    rows = tuple(row for row in MAIN.rows if row.label.startswith("SA-V"))
    short = replace(training, settings=(f"data.sources=[{{path='{source}'}}]", "model.horizon=1"))
    with pytest.raises(UserError, match=r"sa-v learns action values.*`--actions`"):
        make(replace(MAIN, rows=rows, metrics=("actions",)), short)


def test_test_files_are_looked_at_first(setting: Setting, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--actions and --puzzles"):
        check(replace(MAIN, rows=()), replace(setting, actions=None))
    with pytest.raises(UserError, match="absent"):
        check(STEPS, replace(setting, actions=tmp_path / "absent.parquet"))
    with pytest.raises(UserError, match="behind its first 9"):
        check(STEPS, replace(setting, skip_actions=9))
    with pytest.raises(UserError, match="no puzzle file"):
        check(MAIN, replace(setting, puzzles=tmp_path / "absent.csv"))


def test_a_missing_engine_is_found_out_first(
    setting: Setting, puzzles: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DIFFUSEARCH_STOCKFISH", str(tmp_path / "absent"))
    with pytest.raises(UserError, match=r"no engine .*absent"):
        make(MAIN, replace(setting, puzzles=puzzles, train=True))


def test_missing_matplotlib_is_found_out_first(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match=r"diffusearch\[figures\]"):
        make(STEPS, setting)


def test_a_place_that_cannot_be_written_is_refused(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        make(STEPS, replace(setting, out=tmp_path / "file" / "out"))


def test_a_full_disk_is_found_out_first(training: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 10**12, 30_000_000))
    with pytest.raises(UserError, match=r"runs needs about 0.04\d* GB more for labels and runs.* another --runs"):
        make(STEPS, training)
    check(STEPS, replace(training, train=False))
