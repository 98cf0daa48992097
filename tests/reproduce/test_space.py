"""Disk space is asked for before anything starts; folders on one disk share it."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.reproduce.space import RUN_BYTES, check_disk, run_bytes

usage = namedtuple("usage", "total used free")


def test_folders_on_one_disk_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 3 * 10**9))
    absent = tmp_path / "a" / "b"  # is made later
    check_disk([(absent, 10**9), (tmp_path, 2 * 10**9)], "--runs")
    with pytest.raises(UserError, match=r"a/b needs about 4 GB more .* has 3 GB free: .* another --runs"):
        check_disk([(absent, 2 * 10**9), (tmp_path, 2 * 10**9)], "--runs")


def test_large_runs_need_more() -> None:
    run = PlannedRun("a")
    small, large = (Setting(Path(), Path(), recipe=name) for name in ("paper-laptop", "paper-10k"))
    assert run_bytes(resolved(run, small)) == RUN_BYTES
    assert run_bytes(resolved(run, large)) == 40 * 12 * 8 * 256**2
