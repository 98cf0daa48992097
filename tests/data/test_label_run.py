"""The labelling as a whole: the same records with any number of workers, and after any kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from diffusearch.data import label_run
from diffusearch.data.check import check
from diffusearch.data.filters import HeaderFilter
from diffusearch.data.label_run import LabelRun, label_games
from diffusearch.data.labelled import read_labelled, scored_moves
from diffusearch.data.labelling import LabelSettings
from diffusearch.data.oracle import OracleSettings
from diffusearch.data.plan import Choice
from diffusearch.data.show import board_text, summarise
from diffusearch.data.uci_process import SearchBudget
from diffusearch.errors import UserError
from diffusearch.files import locked

GAMES = Path(__file__).parents[1] / "fixtures" / "games.pgn"
MakeEngine = Callable[..., str]
SEARCHED = LabelSettings("relabel", 2, oracle=OracleSettings("engine", SearchBudget(nodes=1), SearchBudget(nodes=1)))


def make_run(engine: str, out: Path, **changes: object) -> LabelRun:
    oracle = OracleSettings(engine, SearchBudget(nodes=1), SearchBudget(nodes=1))
    choice = Choice(per_game=2, limit_games=14, horizon=2, shard=4)
    return replace(LabelRun((str(GAMES),), out, choice, LabelSettings("relabel", 2, oracle=oracle)), **changes)  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


def silent(_: int) -> None:
    pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, program: Callable[..., str]) -> dict[str, bytes]:
    """The folder that an unbroken run leaves."""
    folder = tmp_path_factory.mktemp("whole")
    engine = program(folder / "engine", Path(__file__).with_name("fake_engine.py"), "good")
    label_games(make_run(engine, folder / "out"), silent)
    return files(folder / "out")


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_bytes(
    whole: dict[str, bytes], make_engine: MakeEngine, tmp_path: Path
) -> None:
    label_games(make_run(make_engine(), tmp_path / "three", workers=3), silent)
    assert files(tmp_path / "three") == whole
    assert len(whole) > 5


def test_the_manifest_tells_what_went_in_and_came_out(whole: dict[str, bytes]) -> None:
    manifest = json.loads(whole["manifest.json"])
    assert manifest["complete"]
    assert manifest["engine"] == {"name": "Fake 1.0", "options": {"Threads": 1, "Hash": 16}}
    assert manifest["sources"][0]["name"] == "games.pgn"
    assert manifest["counts"]["kept"] == 14
    rows = sum(shard["rows"] for shard in manifest["shards"])
    assert rows == manifest["counts"]["positions"]
    assert rows + manifest["counts"].get("duplicate positions", 0) == 28


KILLED = """
import os, signal, sys

if __name__ == "__main__":  # the workers that are started from here import this file too
    from diffusearch.cli import main

    stage, count, real = sys.argv[1], int(sys.argv[2]), os.replace

    def replace(source, target):
        global count
        count -= 1
        if count == 0 and stage == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(source, target)
        if count == 0 and stage == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace
    sys.argv = ["diffusearch", *sys.argv[3:]]
    main()
"""


def arguments(engine: str, out: Path, workers: int = 2) -> list[str]:
    words = f"label {GAMES} --out {out} --nodes 1 --extend-nodes 1 --per-game 2 --limit-games 14 --horizon 2 --shard 4"
    return [*words.split(), "--engine", engine, "--workers", str(workers)]


@pytest.mark.parametrize(("stage", "count"), [("before", 1), ("after", 4), ("before", 8)])
@pytest.mark.slow
def test_killed_around_a_write_it_continues(
    whole: dict[str, bytes], make_engine: MakeEngine, tmp_path: Path, stage: str, count: int
) -> None:
    program = tmp_path / "killed.py"
    program.write_text(KILLED)
    out = tmp_path / "broken"
    command = [sys.executable, str(program), stage, str(count), *arguments(make_engine(), out)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    left = files(out)
    assert "manifest.json" not in left or not json.loads(left["manifest.json"])["complete"]
    label_games(make_run(make_engine(), out, workers=2), silent)
    assert files(out) == whole


@pytest.mark.slow
def test_killed_at_random_moments_it_continues(
    whole: dict[str, bytes], make_engine: MakeEngine, tmp_path: Path
) -> None:
    rng = random.Random(int(os.environ.get("DIFFUSEARCH_KILL_SEED", "0")))
    out = tmp_path / "broken"
    command = [sys.executable, "-m", "diffusearch", *arguments(make_engine(), out)]
    kills, patience = 0, 0.1  # the first kill comes before the program can be done, the last ones in its midst
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, errors = process.communicate(timeout=rng.uniform(0.0, patience))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills, patience = kills + 1, patience * 1.6
        else:
            assert process.returncode == 0, errors
            break
    assert kills
    assert files(out) == whole


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(
    whole: dict[str, bytes], make_engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diffusearch.data import local_workers

    killed: list[int] = []
    receive = local_workers._Worker.receive

    def receive_and_kill(worker: local_workers._Worker, progress: local_workers.Progress) -> object:
        rows = receive(worker, progress)
        if worker.labelled == 2 and len(killed) < 3 and worker.process.pid is not None:
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)
        return rows

    monkeypatch.setattr(local_workers._Worker, "receive", receive_and_kill)
    progress: list[int] = []
    manifest = label_games(make_run(make_engine(), tmp_path / "out", workers=2), progress.append)
    assert len(killed) == 3
    assert files(tmp_path / "out") == whole
    assert sum(progress) == manifest.counts["positions"]


def test_a_worker_that_is_closed_ends_by_itself(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for its engine, so that the engine's processor time counts as that of the whole."""
    from diffusearch.data import local_workers

    monkeypatch.setattr(local_workers, "PATIENCE", 600.0)  # it may still be starting, on a busy machine
    worker = local_workers._Worker(replace(SEARCHED, oracle=replace(SEARCHED.oracle, engine=make_engine())))
    worker.close()
    assert worker.process.exitcode == 0


def test_other_options_do_not_continue_a_run(make_engine: MakeEngine, tmp_path: Path) -> None:
    first = make_run(make_engine(), tmp_path / "out")
    label_games(first, silent)
    before = files(tmp_path / "out")
    settings = replace(first.settings, seed=1)
    with pytest.raises(UserError, match=r"other options: seed 0 \(now 1\)"):
        label_games(replace(first, settings=settings), silent)
    other = tmp_path / "games.pgn"
    other.write_text(GAMES.read_text() + "\n")
    with pytest.raises(UserError, match="other sources"):
        label_games(replace(first, sources=(str(other),)), silent)
    assert files(tmp_path / "out") == before


def test_a_stream_that_changed_does_not_continue_a_run(
    make_engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input has no hash beforehand; the games themselves are compared."""
    first = make_run(make_engine(), tmp_path / "out")
    label_games(first, silent)
    (tmp_path / "out" / "shard-000005.parquet").unlink()
    changed = tmp_path / "games.pgn"
    changed.write_text(GAMES.read_text().replace("1. Na3 f5", "1. Nc3 f5", 1))
    monkeypatch.setattr(
        label_run,
        "describe_sources",
        lambda _: json.loads((tmp_path / "out" / "manifest.json").read_text())["sources"],
    )
    with pytest.raises(UserError, match="the games differ"):
        label_games(replace(first, sources=(str(changed),)), silent)


def test_two_runs_do_not_share_a_folder(make_engine: MakeEngine, tmp_path: Path) -> None:
    with locked(tmp_path / ".lock"), pytest.raises(UserError, match="another run"):
        label_games(make_run(make_engine(), tmp_path), silent)


def test_filters_broken_games_and_several_sources_are_counted(tmp_path: Path) -> None:
    one, two = tmp_path / "one.pgn", tmp_path / "two.pgn"
    one.write_text('[WhiteElo "2000"]\n[BlackElo "2000"]\n\n1. e4 e5 2. Nf3 *\n\n[WhiteElo "900"]\n\n1. d4 *\n\n')
    two.write_text(
        '[WhiteElo "2000"]\n[BlackElo "2000"]\n\n1. e4 Ke7 *\n\n[WhiteElo "2000"]\n[BlackElo "2100"]\n\n1. e4 c5 *\n'
    )
    choice = Choice(wanted=HeaderFilter(min_rating=1000))
    run = LabelRun((str(one), str(two)), tmp_path / "out", choice, LabelSettings("played"))
    counts = label_games(run, silent).counts
    assert counts["games"] == 4
    assert counts["kept"] == 2
    assert counts["dropped: rating"] == 1
    assert counts["broken: illegal move"] == 1
    assert counts["positions"] == 3
    assert counts["duplicate positions"] == 2  # the start and the position after 1. e4, again in the second file
    assert {row["pool"] for row in read_labelled(tmp_path / "out")} == {"one"}


def test_excluded_positions_are_left_out(labelled: Path, tmp_path: Path) -> None:
    choice = Choice(per_game=8, shard=1024)
    run = LabelRun((str(GAMES),), tmp_path / "out", choice, LabelSettings("played"), exclude=(str(labelled),))
    counts = label_games(run, silent).counts
    assert counts.get("positions", 0) == 0
    assert counts["duplicate positions"] == 2399


@pytest.mark.parametrize(
    "changes",
    [
        {"choice": Choice(horizon=0)},
        {"choice": Choice(per_game=0)},
        {"workers": 0},
        {"settings": LabelSettings("guess")},
        {"settings": LabelSettings("played", actions=True)},
        {"settings": LabelSettings("relabel")},
        {"settings": LabelSettings("played", multipv=5)},
        *({"settings": replace(SEARCHED, **bad)} for bad in ({"multipv": 0}, {"multipv": 65})),
        {"settings": replace(SEARCHED, multipv=5, actions=True)},
    ],
)
def test_bad_options_are_the_users_error(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(UserError):
        make_run("engine", tmp_path, **changes)


def test_a_folder_of_an_older_version_goes_on(whole: dict[str, bytes]) -> None:
    """Options that came later are not in the manifest while they are off."""
    assert "multipv" not in json.loads(whole["manifest.json"])["options"]


def test_the_best_actions_are_labelled_checked_and_shown(make_engine: MakeEngine, tmp_path: Path) -> None:
    run = make_run(make_engine(), tmp_path / "out")
    label_games(replace(run, settings=replace(run.settings, multipv=3)), silent)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["options"]["multipv"] == 3
    rows = list(read_labelled(tmp_path / "out"))
    assert {len(row["actions"].split()) for row in rows} == {3}
    assert list(check(tmp_path / "out", silent)) == []
    summary = summarise(tmp_path / "out", 1)
    assert (summary.fewest_scored, summary.most_scored, summary.with_actions) == (3, 3, len(rows))
    assert "win probability: " in board_text(summary.examples[0])
    assert scored_moves(tmp_path / "out") == 3


@pytest.mark.engine
def test_stockfish_labels_repeat_with_any_number_of_workers(stockfish: str, tmp_path: Path) -> None:
    runs = []
    for workers in (1, 2):
        run = make_run(
            stockfish, tmp_path / str(workers), workers=workers, choice=Choice(per_game=1, limit_games=8, shard=4)
        )
        oracle = OracleSettings(stockfish, SearchBudget(nodes=300), SearchBudget(nodes=100))
        label_games(replace(run, settings=LabelSettings("pv", 4, True, oracle=oracle)), silent)
        runs.append(files(tmp_path / str(workers)))
    assert runs[0] == runs[1]
