"""A base recipe that trains in a second on the labelled fixture, and a count of what the network is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from diffusearch.model.trunk import Trunk
from diffusearch.reproduce.plan import Setting

LABELS = Path(__file__).parents[1] / "fixtures" / "labelled" / "shard-000002.parquet"  # 305 positions, lines of 4 plies


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's encoding and horizon, one layer of width 16, two training steps."""
    folder = tmp_path_factory.mktemp("base")
    path = folder / "tiny.toml"
    path.write_text(
        f"""
threads = 1
[model.trunk]
layers = 1
width = 16
heads = 2
dropout = 0.0
[data]
sources = [{{ path = "{LABELS}" }}]
cache = "{folder / "cache"}"
[optimiser]
steps = 2
batch = 8
[watch]
validate_every = 1000
validate_records = 4
"""
    )
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tests that train keep their runs: the same run is trained once."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def setting(base: Path, runs: Path, tmp_path: Path, actions: Path) -> Setting:
    return Setting(runs=runs, out=tmp_path / "out", recipe=base, actions=actions, limit=2, games=2)


@pytest.fixture(scope="session")
def actions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two labelled test positions that no fixture game meets."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    fens = ["6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "8/8/8/4k3/8/4K3/4P3/8 w - - 0 60"]
    lines = ["a1a8", "e3d3 e5d5 e2e3 d5e5"]
    columns: dict[str, Any] = {"fen": fens, "line": lines, "cp": [0, 0], "mate": pa.nulls(2, pa.int16())}
    columns |= {"nodes": [1, 1], "pool": ["p", "p"], "game": [0, 1], "ply": [0, 0], "played": ["a1a8", "e3d3"]}
    path = tmp_path_factory.mktemp("tests") / "actions.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def puzzles(tmp_path: Path) -> Path:
    path = tmp_path / "puzzles.csv"
    path.write_text("PuzzleId,FEN,Moves,Rating,Themes\nhard,6k1/4rppp/8/8/8/8/8/R5K1 b - - 0 1,e7b7 a1a8,1900,mate\n")
    return path


@dataclass
class Calls:
    """The trunk's calls while a row is measured: (records, places) each."""

    now: str = ""
    seen: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    layers: dict[str, set[int]] = field(default_factory=dict)

    def say(self, line: str) -> None:
        """The driver's report: it names a row before it is measured."""
        self.now = line.rpartition(": ")[0]


@pytest.fixture(scope="module")
def calls() -> Iterator[Calls]:
    """Counts every forward pass of every network."""
    counted = Calls()
    forward: Callable[..., Any] = Trunk.forward

    def counting(self: Trunk, places: Tensor, *more: Any, **named: Any) -> Any:
        counted.seen.setdefault(counted.now, []).append((places.shape[0], places.shape[1]))
        counted.layers.setdefault(counted.now, set()).add(len(self.blocks))
        return forward(self, places, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trunk, "forward", counting)
        yield counted
