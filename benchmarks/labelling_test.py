"""How much of labelling is the engine searching: labels/s against two bare engines on the same positions.

10,000 nodes a position, two workers. The bare engines get all commands as one text and nobody looks at their analysis
before the end. Ratios of wall time need a quiet machine; the engine's share of all processor time does not.

pytest -q -s benchmarks/labelling_test.py
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import chess
import chess.engine

from diffusearch.data.labelled import read_labelled
from diffusearch.data.labelling import Labeller, LabelSettings
from diffusearch.data.local_workers import label_locally
from diffusearch.data.oracle import OracleSettings
from diffusearch.data.plan import ShardInfo, ShardTask
from diffusearch.data.root_positions import RootPosition
from diffusearch.data.uci_process import SearchBudget, find_engine

LABELLED = Path(__file__).parents[1] / "tests" / "fixtures" / "labelled"
NODES = 10_000
POSITIONS = int(os.environ.get("POSITIONS", "1000"))  # enough that one worker's last shard hardly counts
WORKERS = 2
FENS = [row["fen"] for row in islice(read_labelled(LABELLED), POSITIONS)]
ENGINE = find_engine(None)
SETTINGS = LabelSettings("pv", 1, oracle=OracleSettings(ENGINE, SearchBudget(nodes=NODES), SearchBudget(nodes=NODES)))


def bare_engines() -> float:
    """Positions a second of engines that nobody waits for: they get all their commands at once."""
    engines = []
    for part in range(WORKERS):
        commands = ["setoption name Threads value 1", "setoption name Hash value 16"]
        for fen in FENS[part::WORKERS]:
            commands += ["ucinewgame", f"position fen {fen}", f"go nodes {NODES}"]
        process = subprocess.Popen([ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        engines.append((process, "\n".join(commands) + "\nucinewgame\nquit\n"))
    for process, text in engines:
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
    ticks: list[float] = []

    def listen(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        ticks.extend(time.perf_counter() for line in process.stdout if line.startswith("bestmove"))

    threads = [threading.Thread(target=listen, args=(process,)) for process, _ in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process, _ in engines:
        process.wait()
    return _pace(ticks)


def _pace(ticks: list[float]) -> float:
    """Positions a second, once the engines have started."""
    return (len(ticks) - 1) / (max(ticks) - min(ticks))


def tasks() -> Iterator[ShardTask]:
    for index in range(0, len(FENS), 20):
        positions = [RootPosition(fen, "p", 0, 0, None, None, "train") for fen in FENS[index : index + 20]]
        yield ShardTask(ShardInfo(index // 20, 0, "", Counter()), tuple(positions))


def our_workers() -> float:
    """Labels a second."""
    ticks: list[float] = []
    for _ in label_locally(tasks(), SETTINGS, WORKERS, lambda _: ticks.append(time.perf_counter())):
        pass
    return _pace(ticks)


def test_wall_time_is_the_engines() -> None:
    ratios = sorted(our_workers() / bare_engines() for _ in range(5))
    print(f"\nlabels/s against bare engines, {WORKERS} workers at {NODES} nodes, median of")
    print(", ".join(f"{ratio:.2f}" for ratio in ratios))
    assert ratios[2] >= 0.9


def spent_by_us() -> float:
    times = os.times()
    return times.user + times.system


def test_processor_time_is_the_engines() -> None:
    before = os.times()
    start = spent_by_us()
    with Labeller(SETTINGS) as labeller:
        assert len(list(labeller.label(all_positions()))) == len(FENS)
    ours = spent_by_us() - start
    after = os.times()  # the engine has ended, so it is among the children
    engine = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"\nengine's share of a worker's processor time: {engine / (engine + ours):.3f}")
    start = spent_by_us()
    with_python_chess()
    print(f"processor time of python-chess's client as a multiple of ours: {(spent_by_us() - start) / ours:.1f}")
    assert engine / (engine + ours) >= 0.9


def with_python_chess() -> None:
    """The same searches through its client, which parses every line of analysis: why the pipe is our own."""
    with chess.engine.SimpleEngine.popen_uci(ENGINE) as engine:
        engine.configure({"Threads": 1, "Hash": 16})
        for number, fen in enumerate(FENS):
            engine.analyse(chess.Board(fen), chess.engine.Limit(nodes=NODES), game=number)


def all_positions() -> list[RootPosition]:
    return [position for task in tasks() for position in task.positions]
