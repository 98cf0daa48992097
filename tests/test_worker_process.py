"""Workers of a pool end with the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.posix
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to see other processes")

MAIN = """
import sys
from diffusearch.evaluation.game_workers import Task, run
from diffusearch.evaluation.games import Fixture, GameRules

if __name__ == "__main__":
    endless = [Task((Fixture("random", f"uci:{sys.argv[1]}", 0),), ((),), GameRules()) for _ in range(2)]
    list(run(endless, processes=2))
"""

# An engine that never answers: it writes the process id of the worker that started it.
SILENT = """#!{python}
import os, pathlib, time
pathlib.Path({folder!r}, f"worker-{{os.getppid()}}").touch()
time.sleep(600)
"""


def _alive(process: int) -> bool:
    """Whether a process runs; one that has ended and is not yet collected does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@needs_proc
def test_workers_end_with_a_terminated_tournament(tmp_path: Path) -> None:
    engine, script = tmp_path / "silent", tmp_path / "main.py"
    engine.write_text(SILENT.format(python=sys.executable, folder=str(tmp_path)))
    engine.chmod(0o755)
    script.write_text(MAIN)
    main = subprocess.Popen([sys.executable, str(script), str(engine)], stderr=subprocess.DEVNULL)
    try:
        _until(lambda: len(_workers(tmp_path)) == 2)
        workers = _workers(tmp_path)
        assert all(_alive(one) for one in workers)
        main.send_signal(signal.SIGTERM)
        assert main.wait() == -signal.SIGTERM
        _until(lambda: not any(_alive(one) for one in workers))
    finally:
        main.kill()
        for one in _workers(tmp_path):
            if _alive(one):
                os.kill(one, signal.SIGKILL)


NOTED = """
import os, signal, subprocess, sys, time
from diffusearch import worker_process

if sys.argv[1] == "main":
    worker = subprocess.Popen([sys.executable, __file__, str(os.getpid())])
    print(worker.pid, flush=True)
    sys.stdin.read()
else:
    signal.signal(signal.SIGTERM, lambda *_: None)  # noted, and then nothing more happens
    worker_process.PAUSE = worker_process.ENDING = 0.1
    worker_process.begin(int(sys.argv[1]))
    time.sleep(600)
"""


WITHOUT_PARENTS = """
import multiprocessing, os, sys, time
from diffusearch import worker_process

def work(parent):
    os.getppid = lambda: parent  # as on Windows, where an ended parent is still named
    worker_process.PAUSE = 0.1
    worker_process.begin(parent)
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(os.getpid(),))
    worker.start()
    sys.stdin.read()
"""


@needs_proc
def test_a_worker_ends_where_no_parent_is_taken_away(tmp_path: Path) -> None:
    _worker_ends_with_main(tmp_path, WITHOUT_PARENTS)


@needs_proc
def test_a_worker_that_only_notes_the_signal_ends_too(tmp_path: Path) -> None:
    _worker_ends_with_main(tmp_path, NOTED)


def _worker_ends_with_main(folder: Path, program: str) -> None:
    """The program prints the process id of its worker, and is killed."""
    script = folder / "main.py"
    script.write_text(program)
    command = [sys.executable, str(script), "main"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        worker = int(main.stdout.readline())
        try:
            main.kill()
            _until(lambda: not _alive(worker))
        finally:
            if _alive(worker):
                os.kill(worker, signal.SIGKILL)


def _workers(folder: Path) -> set[int]:
    return {int(path.name.partition("-")[2]) for path in folder.glob("worker-*")}


def _until(condition: Callable[[], bool], patience: float = 300.0) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)
