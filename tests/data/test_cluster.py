"""Labelling on Ray: a local one with two workers, one of which is killed in the middle of a shard; a pretended one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diffusearch.data import cluster, labelling
from diffusearch.data.label_run import LabelRun, label_games
from diffusearch.data.labelling import LabelSettings
from diffusearch.data.oracle import OracleSettings
from diffusearch.data.plan import Choice
from diffusearch.data.uci_process import SearchBudget
from diffusearch.errors import UserError

pytestmark = pytest.mark.slow

pytest.importorskip("ray")

GAMES = Path(__file__).parents[1] / "fixtures" / "games.pgn"
FAKE = Path(__file__).with_name("fake_engine.py")

# An engine that, once, kills the worker that started it.
ASSASSIN = """#!/bin/sh
if [ ! -e "{marker}" ]; then echo $PPID > "{marker}"; kill -9 $PPID; fi
exec "{python}" "{fake}" good
"""


def engine(folder: Path, marker: Path) -> str:
    script = folder / "engine"
    script.write_text(ASSASSIN.format(marker=marker, python=sys.executable, fake=FAKE))
    script.chmod(0o755)
    return str(script)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


def gone(process: int) -> bool:
    """Whether a process has ended; waits for its parent to collect it."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_killed_worker_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "killed"
    marker.touch()  # nobody is killed in the local run, which says what the records should be
    oracle = OracleSettings(engine(tmp_path, marker), SearchBudget(nodes=1), SearchBudget(nodes=1), timeout=600.0)
    choice = Choice(per_game=2, limit_games=10, horizon=2, shard=5)
    run = LabelRun((str(GAMES),), tmp_path / "local", choice, LabelSettings("relabel", 2, oracle=oracle))
    label_games(run, lambda _: None)

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_register_timeout_seconds", "600")
    done: list[int] = []

    def progress(count: int) -> None:
        done.append(count)
        if count and marker.exists() and not marker.read_text():
            marker.unlink()  # from the next shard on

    label_games(replace(run, out=tmp_path / "cluster", cluster="local", workers=2), progress)
    assert marker.read_text().strip().isdigit(), "no worker was killed"
    assert gone(int(marker.read_text()))
    assert files(tmp_path / "cluster") == files(tmp_path / "local")
    assert sum(done) == 20


class Here:
    """A Ray that does each task at once in this process."""

    exceptions = SimpleNamespace(RayTaskError=(), WorkerCrashedError=OSError, OutOfMemoryError=OSError)

    def remote(self, **_: object) -> Callable[[Callable[..., Any]], SimpleNamespace]:
        def task(call: Callable[..., Any]) -> SimpleNamespace:
            return SimpleNamespace(remote=lambda *given: Finished(call(*given)))

        return task

    def wait(self, running: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return running[:num_returns], running[num_returns:]

    def get(self, reference: Finished) -> Any:
        return reference.value

    def cancel(self, *_: object, **__: object) -> None: ...


class Finished:
    def __init__(self, value: Any) -> None:
        self.value = value


def test_an_engine_that_fails_everywhere_stops_a_run_of_small_shards(
    tmp_path: Path, make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shard is as long as the failures in a row that stop a run."""
    monkeypatch.setattr(labelling, "MAX_FAILURES", 6)
    monkeypatch.setattr(cluster, "start_ray", lambda *_: (Here(), False))
    oracle = OracleSettings(make_engine("illegal"), SearchBudget(nodes=1), SearchBudget(nodes=1))
    choice = Choice(per_game=2, limit_games=10, horizon=2, shard=4)
    run = LabelRun((str(GAMES),), tmp_path / "out", choice, LabelSettings("relabel", 2, oracle=oracle))
    with pytest.raises(UserError, match="failed on 6 positions in a row"):
        label_games(replace(run, cluster="local", workers=1), lambda _: None)
