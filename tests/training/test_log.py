"""The reports of a run: a table on the screen, figures in log.csv, and a full disk."""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.training import log as module
from diffusearch.training.log import Log, Report, Validation


def report(loss: float, hits: float, kind: str = "action") -> Report:
    return Report(total=10 * loss, records=10, by_type={kind: 10 * loss}, hits=10 * hits, rate=1e-3)


def test_progress_is_a_table_with_its_headings_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=20)  # every look at the clock is 20 seconds later
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(clock)))
    lines: list[str] = []
    log = Log(tmp_path, 1000, 0, lines.append)
    for step in (1, 10, 1000):
        log.add(report(2.5, 0.25), step, 10)
    headings, *rows = lines
    assert headings.split() == ["step", "loss", "move", "acc.", "rate", "records/s", "time", "left"]
    assert [row.split()[:4] for row in rows] == [[f"{n}/1000", "2.50000", "25.0%", "1.00e-03"] for n in (1, 10, 1000)]
    assert rows[-1].split()[-1] == "0:00:00"
    ends = [headings.index(name) + len(name) for name in ("step", "loss", "move acc.", "rate", "records/s")]
    for row in rows:  # every cell ends below its heading
        assert len(row) == len(headings)
        assert all(row[end - 1] != " " and row[end] == " " for end in ends)
    log.validation(Validation(0.5, {"accuracy": 0.5}), 1000)
    assert lines[-1].split() == ["1000/1000", "validation:", "accuracy", "0.5000"]
    log.close()


def test_one_process_of_several_writes(tmp_path: Path) -> None:
    Log(tmp_path, 1, 0, lambda line: None).add(report(2.5, 0.25), 1, 10)
    before = {path.name for path in tmp_path.iterdir()}, (tmp_path / "log.csv").read_bytes()
    other = Log(tmp_path, 1, 0, lambda line: None, writes=False)
    other.add(report(2.5, 0.25), 1, 10)
    other.validation(Validation(0.5, {"accuracy": 0.5}), 1)
    other.close()
    assert ({path.name for path in tmp_path.iterdir()}, (tmp_path / "log.csv").read_bytes()) == before


def test_a_model_without_moves_has_no_move_accuracy(tmp_path: Path) -> None:
    lines: list[str] = []
    Log(tmp_path, 1, 0, lines.append).add(report(2.5, 0.0, "value"), 1, 10)
    assert lines[1].split()[2] == "-"


def test_time_left() -> None:
    assert [module._duration(seconds) for seconds in (0.4, 61, 7509)] == ["0:00:00", "0:01:01", "2:05:09"]


def test_log_csv_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="needs a limit on the size of files")
    log = Log(tmp_path, 1, 0, lambda line: None)
    log._wants_board = False
    log.add(report(2.5, 0.25), 1, 10)
    before = (tmp_path / "log.csv").read_bytes()
    assert before.splitlines()[0] == b"step,figure,value"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 7, hard))
    try:
        with pytest.raises(UserError, match=r"log in .* cannot be written .*--resume"):
            log.validation(Validation(0.5, {"accuracy": 0.5}), 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "log.csv").read_bytes() == before


def test_a_tensorboard_that_cannot_write_is_the_users_error(tmp_path: Path) -> None:
    class Full:
        def add_scalar(self, *_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    log = Log(tmp_path, 1, 0, lambda line: None)
    log._board, log._wants_board = Full(), False
    with pytest.raises(UserError, match="No space left on device"):
        log.add(report(2.5, 0.25), 1, 10)
