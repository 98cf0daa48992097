"""Draft records on disk: folders of many shards, and folders that are not whole or cannot be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from diffusearch.data import draft_records
from diffusearch.data.draft_records import FACTS, Arrays, DraftRecords
from diffusearch.errors import UserError

SHARDS, ROWS = 12, 5
OTHERS = ("root", "hidden", "root_odds", "odds", "log_shares", "exists", "over", "priors", "target", "wins")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve shards of five records; every number of a record is its number, and every third one is validation."""
    draft_records.begin(tmp_path, {"weights": "w", "drafts": 2, "depth": 3}, SHARDS * ROWS)
    for shard in range(SHARDS):
        draft_records.write_shard(tmp_path, shard, of_shard(shard))
    draft_records.end(tmp_path, SHARDS * ROWS)
    return tmp_path


def of_shard(shard: int) -> Arrays:
    numbers = np.arange(shard * ROWS, (shard + 1) * ROWS, dtype=np.float32)
    return dict.fromkeys(OTHERS, numbers) | {"train": numbers % 3 > 0}


def test_rows_of_both_splits(folder: Path) -> None:
    records, numbers = DraftRecords(folder), np.arange(SHARDS * ROWS)
    for split, own in ((records.train, numbers[numbers % 3 > 0]), (records.validation, numbers[numbers % 3 == 0])):
        order = np.random.default_rng(0).permutation(len(own))
        assert len(split) == len(own)
        found = split.take(order)
        assert set(found) == {*OTHERS, "train"}
        np.testing.assert_array_equal(found["target"], own[order])
        np.testing.assert_array_equal(found["hidden"], own[order])


@pytest.mark.posix
def test_few_files_are_open_at_a_time(folder: Path) -> None:
    """Twelve shards have 132 arrays; with 64 open files all of them can be read, in any order."""
    code = """
import resource, sys
from pathlib import Path
import numpy as np
from diffusearch.data.draft_records import DraftRecords
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
records = DraftRecords(Path(sys.argv[1]))
for split in (records.train, records.validation):
    for row in (*range(len(split)), *reversed(range(len(split)))):
        split.take(np.array([row]))
    print(len(split.take(np.arange(len(split)))["target"]))
"""
    found = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["40", "20"], found.stderr


def test_too_many_open_files_are_called_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **options: object) -> None:
        raise OSError(24, "Too many open files")

    records = DraftRecords(folder)
    monkeypatch.setattr(np, "load", full)
    with pytest.raises(UserError, match=r"npy cannot be read \(Too many open files\): check .* \(`ulimit -n`\)"):
        records.train.take(np.arange(1))


def test_a_folder_that_is_not_whole_is_refused(folder: Path, tmp_path: Path) -> None:
    draft_records.shard_folder(folder, 3).rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="holds 55 of 60 positions and is not complete: run the same command again"):
        DraftRecords(folder)


def test_a_folder_that_was_never_ended_is_refused(tmp_path: Path) -> None:
    draft_records.begin(tmp_path, {"weights": "w", "drafts": 2, "depth": 3}, ROWS)
    draft_records.write_shard(tmp_path, 0, of_shard(0))
    with pytest.raises(UserError, match="holds 5 of 5 positions and is not complete: run the same command again"):
        DraftRecords(tmp_path)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (None, "holds no drafts: make them with `diffusearch draft`"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"format": 7}', "has draft format 7, not 1"),
        ('{"format": 1, "weights": "w"}', "lacks drafts, depth"),
    ],
)
def test_other_facts_are_refused(tmp_path: Path, facts: str | None, words: str) -> None:
    if facts is not None:
        (tmp_path / FACTS).write_text(facts)
    with pytest.raises(UserError, match=words):
        DraftRecords(tmp_path)


def test_a_damaged_shard_is_named(folder: Path) -> None:
    file = draft_records.shard_folder(folder, 1) / "train.npy"
    file.write_bytes(b"")
    with pytest.raises(UserError, match=r"train\.npy is damaged .*: delete .*shard-000001 and run the same"):
        DraftRecords(folder)


def test_a_shard_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(UserError, match=r"shard-000000 cannot be written \(No space left on device\)"):
        draft_records.write_shard(tmp_path, 0, of_shard(0))
    assert not list(tmp_path.iterdir())
