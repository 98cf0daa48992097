"""Digests are the same on every machine and change with the experiment."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from diffusearch.reproduce.digests import _changed, content_digest, recipe_digest, test_digest
from diffusearch.reproduce.plan import PlannedRun, Setting
from diffusearch.reproduce.scales import SCALES

test_digest.__test__ = False  # type: ignore[attr-defined] # no test of pytest

FIXTURE = Path(__file__).parents[1] / "fixtures"
RUN = PlannedRun("s-a", ("data.sources=[{path='{labels}/oracle', games=6}]",))


@pytest.fixture
def here(tmp_path: Path, actions: Path) -> Setting:
    shutil.copy(FIXTURE / "games.pgn", tmp_path / "games.pgn")
    out = tmp_path / "one"
    return Setting(
        out / "runs",
        out,
        out / "labels",
        SCALES["tiny"],
        "paper-tiny",
        actions=actions,
        pgn=tmp_path / "games.pgn",
    )


def test_folders_are_no_part_of_it(here: Setting, tmp_path: Path) -> None:
    assert here.actions
    assert here.pgn
    copies = [Path(shutil.copy(path, tmp_path / f"copy-{path.name}")) for path in (here.actions, here.pgn)]
    there = replace(
        here, out=tmp_path / "two", runs=tmp_path / "r", labels=tmp_path / "l", actions=copies[0], pgn=copies[1]
    )
    assert recipe_digest(RUN, here) == recipe_digest(RUN, there)
    assert recipe_digest(replace(RUN, name="other"), here) == recipe_digest(RUN, here)


@pytest.mark.parametrize("change", ["seed=1", "model.trunk.layers=2", "loss.time_weight=constant", "optimiser.steps=9"])
def test_the_recipe_is(here: Setting, change: str) -> None:
    assert recipe_digest(replace(RUN, settings=(*RUN.settings, change)), here) != recipe_digest(RUN, here)


def test_games_labels_and_test_rows_are(here: Setting, tmp_path: Path, actions: Path) -> None:
    first = recipe_digest(RUN, here)
    other = tmp_path / "other.pgn"
    other.write_text((FIXTURE / "games.pgn").read_text() + "\n")
    assert recipe_digest(RUN, replace(here, pgn=other)) != first
    assert recipe_digest(RUN, replace(here, scale=replace(here.scale, nodes=99))) != first
    assert recipe_digest(RUN, replace(here, actions=FIXTURE / "labelled" / "shard-000002.parquet")) != first
    assert test_digest(actions, here) != test_digest(FIXTURE / "labelled" / "shard-000002.parquet", here)


def test_a_field_with_its_default_says_nothing() -> None:
    values = {"name": "x", "steps": 5, "trunk": {"layers": 4, "width": 8}, "new": {"field": 1}}
    usual = {"name": "", "steps": 0, "trunk": {"layers": 8, "width": 8}, "new": {"field": 1}}
    assert _changed(values, usual) == {"steps": 5, "trunk": {"layers": 4}}


def test_packaged_weights_are_their_own_digest(here: Setting) -> None:
    first, second = (recipe_digest(PlannedRun(name, packaged=name), here) for name in ("s-a", "s-v"))
    assert len(first) == len(second) == 16
    assert first != second


def test_labels_count_by_their_content(tmp_path: Path) -> None:
    """A file that another program wrote again has other bytes and the same labels."""
    import pyarrow.parquet as parquet

    source, copy = FIXTURE / "labelled", tmp_path / "copy"
    copy.mkdir()
    shutil.copy(source / "manifest.json", copy)
    for file in source.glob("*.parquet"):
        parquet.write_table(parquet.read_table(file), copy / file.name, compression="none")
    assert (copy / "shard-000002.parquet").read_bytes() != (source / "shard-000002.parquet").read_bytes()
    assert content_digest(copy) == content_digest(source) != ""
    (copy / "shard-000002.parquet").unlink()
    assert content_digest(copy) != content_digest(source)
    assert content_digest(tmp_path) == ""
