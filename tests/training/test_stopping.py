"""A run is stopped from outside: by signals, by a second run in its folder, by a full disk."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diffusearch.errors import UserError
from diffusearch.training import checkpoint
from diffusearch.training.loop import train
from diffusearch.training.recipe import Recipe, recipe_text
from diffusearch.training.state import Training
from diffusearch.training.stopping import StopSignals

pytestmark = pytest.mark.slow

# `diffusearch train` that says "now" after a step and waits for a word; then it goes on.
WAITING = """
import signal, sys
from diffusearch.cli import main
from diffusearch.training.state import Training

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background inherit that it is ignored
number, step = int(sys.argv.pop(1)), Training.take_step

def take_step(self):
    report = step(self)
    if self.step == number:
        print("now", flush=True)
        sys.stdin.readline()
    return report

Training.take_step = take_step
main()
"""


def start(number: int, *words: str | Path) -> subprocess.Popen[str]:
    """The program, waiting after a step of that number."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", WAITING, str(number), "train", *words], text=True, **pipes)
    assert process.stdout is not None
    while (line := process.stdout.readline()) != "now\n":
        assert line, process.stderr and process.stderr.read()
    return process


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate("go on\n", timeout=300)
    return process.returncode, out, err


@pytest.fixture
def recipe_file(make_recipe: Callable[..., Recipe], tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_text(make_recipe(watch={"checkpoint_every": 1000})))
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint_and_says_how_to_go_on(
    recipe_file: Path, make_recipe, tmp_path: Path, number: int, code: int
) -> None:
    process = start(5, recipe_file, "--out", tmp_path / "run")
    process.send_signal(number)
    returned, out, err = finish(process)
    assert returned == code
    name = signal.Signals(number).name
    assert f"stopped by {name} at step 5 of 12" in out
    assert "--resume goes on" in out
    assert "stopping after this step" in err
    assert "Traceback" not in err
    assert checkpoint.load_facts(tmp_path / "run" / "checkpoint.safetensors")["step"] == 5
    recipe = make_recipe(watch={"checkpoint_every": 1000})
    train(recipe, tmp_path / "run", resume=True)
    train(recipe, tmp_path / "whole")
    one, two = (checkpoint.load_tensors(tmp_path / n / "checkpoint.safetensors")[0] for n in ("run", "whole"))
    assert all(one[key].equal(two[key]) for key in two)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_last_step_finds_the_run_finished(recipe_file: Path, tmp_path: Path, number: int) -> None:
    process = start(12, recipe_file, "--out", tmp_path / "run")
    process.send_signal(number)
    returned, out, _ = finish(process)
    assert returned == 0
    assert "stopped by" not in out
    assert out.splitlines()[-1] == f"weights: {tmp_path / 'run' / 'weights.safetensors'}"


def test_a_caller_hears_of_a_signal_in_the_last_step(
    make_recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Training.save

    def interrupted(self: Training) -> None:
        save(self)
        if self.step == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Training, "save", interrupted)
    trained = train(make_recipe(optimiser={"steps": 2}), tmp_path)
    assert (trained.step, trained.late_signal) == (2, 143)
    monkeypatch.undo()
    assert train(make_recipe(optimiser={"steps": 2}), tmp_path / "quiet").late_signal is None


def test_a_second_train_in_the_same_folder_is_refused(recipe_file: Path, tmp_path: Path) -> None:
    process = start(2, recipe_file, "--out", tmp_path / "run")
    words = [sys.executable, "-m", "diffusearch", "train", recipe_file, "--out", tmp_path / "run", "--resume"]
    second = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert second.returncode == 2
    assert f"another `train` is using {tmp_path / 'run'}" in second.stderr
    assert len(second.stderr.splitlines()) == 1
    assert finish(process)[0] == 0  # the first is not disturbed
    third = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert third.returncode == 0, third.stderr


def test_leftovers_of_a_killed_run_are_removed(make_recipe, tmp_path: Path) -> None:
    (tmp_path / ".checkpoint.safetensors.99999.tmp").write_bytes(b"half")
    train(make_recipe(optimiser={"steps": 1}), tmp_path)
    assert not list(tmp_path.glob("*.tmp"))


FULL = """
import resource, sys
from diffusearch.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
main()
"""


@pytest.mark.parametrize("room", [40_000, 1000, 10])
def test_a_full_disk_is_one_sentence(recipe_file: Path, tmp_path: Path, room: int) -> None:
    """Files may have so many bytes: the checkpoint does not fit, then not even the recipe."""
    words = [sys.executable, "-c", FULL, str(room), "train", recipe_file, "--out", tmp_path / "run"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert not list((tmp_path / "run").glob("*.tmp"))


def test_no_room_for_records_is_one_sentence(make_recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from diffusearch.training import sources

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sources, "write_records", full)
    labelled = Path(__file__).parents[1] / "fixtures" / "labelled"
    recipe = make_recipe(data={"sources": [{"path": str(labelled)}], "cache": str(tmp_path / "cache")})
    with pytest.raises(UserError, match=r"cannot write records to .*No space left on device.*data\.cache"):
        train(recipe, tmp_path / "run")


def test_a_folder_that_cannot_be_made_is_refused(make_recipe, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="choose another --out"):
        train(make_recipe(), tmp_path / "file" / "run")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as it is in a terminal, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_only_the_first_signal_is_noted() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals() as signals:
        assert signals.received is None
        signal.raise_signal(signal.SIGINT)
        assert (signals.received, signals.name, signals.exit_code) == (signal.SIGINT, "SIGINT", 130)
        assert signal.getsignal(signal.SIGTERM) is before
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.usefixtures("interruptible")
def test_ignored_signals_stay_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with StopSignals() as signals:
        signal.raise_signal(signal.SIGINT)
    assert signals.received is None
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_train_without_handlers(make_recipe, tmp_path: Path) -> None:
    done: list[int] = []
    recipe = make_recipe(optimiser={"steps": 1})
    thread = threading.Thread(target=lambda: done.append(train(recipe, tmp_path / "run").step))
    thread.start()
    thread.join()
    assert done == [1]
