"""The page of a soak: counts, faults, memory, duration, versions and commits, from the files of its stages."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from diffusearch.data.uci_process import find_engine
from diffusearch.files import write_whole
from soak.units import Stage, done_units

TITLES = {
    "uci": "UCI lines",
    "http": "HTTP requests and many players",
    "kills": "Kills",
    "games": "Games",
}
HEAD = """# The soak

`make soak` does this before a release, outside the continuous integration; `make soak SCALE=0.01` is a quick look. It
can be stopped and started again. This page is written by it.

"""

PART = """**This is {percent:g} % of a full soak**, whose counts are 1,000 games, 1,000,000 UCI lines, 200 kills and
10,000 requests.

"""


def write_page(path: Path, stages: Sequence[Stage], work: Path, scale: float) -> int:
    """Write the page; gives the number of faults."""
    lines = {stage.name: done_units(work, stage.name) for stage in stages}
    faults = sum(len(line["faults"]) for units in lines.values() for line in units)
    part = "" if scale == 1 else PART.format(percent=100 * scale)
    parts = [HEAD, part, _summary(stages, lines, scale), *(_section(stage, lines[stage.name]) for stage in stages)]
    write_whole(path, "".join(parts).rstrip("\n") + "\n")
    return faults


def _summary(stages: Sequence[Stage], lines: dict[str, list[dict[str, Any]]], scale: float) -> str:
    every = [line for units in lines.values() for line in units]
    rows = ["| stage | done | faults | minutes |", "|---|---|---:|---:|"]
    for stage in stages:
        units = lines[stage.name]
        counts = _counts(units)
        told = ", ".join(f"{counts[name]:,} {name}" for name in _main_counts(counts)) or "nothing"
        missing = len({unit.name for unit in stage.units} - {line["unit"] for line in units})
        told += f"; {missing} of {len(stage.units)} units are missing" if missing else ""
        rows.append(f"| {TITLES[stage.name]} | {told} | {_faults(units)} | {_minutes(units):.0f} |")
    rows.append(f"| in all | | {_faults(every)} | {_minutes(every):.0f} |")
    return (
        "\n".join(rows)
        + f"\n\nCommand: `PYTHONPATH=benchmarks python -m soak --scale {scale:g}`. {_versions(every)} "
        + f"Python {platform.python_version()}, torch {version('torch')}, python-chess {version('chess')}, "
        + f"{_engine()}, {platform.system()} {platform.machine()}. Minutes are those of the clock on a machine that "
        + "did other work, too.\n\n"
    )


def _versions(units: Sequence[dict[str, Any]]) -> str:
    """The code, the packaged weights and the days of units; units of an earlier soak noted only the code."""

    def all_of(name: str) -> str:
        return ", ".join(sorted({str(line.get(name, "not noted"))[:12] for line in units})) or "none"

    return f"Code: {all_of('commit')}; weights: {all_of('weights')}; date: {all_of('date')}."


def _main_counts(counts: dict[str, int]) -> list[str]:
    """The counts of the summary; of the others, only the sections tell."""
    return [name for name in counts if not name.endswith(("xx", "compared"))]


def _counts(units: Sequence[dict[str, Any]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for line in units:
        for name, number in line["counts"].items():
            total[name] = total.get(name, 0) + number
    return total


def _faults(units: Sequence[dict[str, Any]]) -> int:
    return sum(len(line["faults"]) for line in units)


def _minutes(units: Sequence[dict[str, Any]]) -> float:
    return sum(float(line["seconds"]) for line in units) / 60


def _section(stage: Stage, units: Sequence[dict[str, Any]]) -> str:
    out = [f"## {TITLES[stage.name]}\n\n{stage.about[:1].upper()}{stage.about[1:]}.\n\n"]
    if counts := _counts(units):
        out.append("| counted | |\n|---|---:|\n")
        out.extend(f"| {name} | {number:,} |\n" for name, number in counts.items())
        out.append("\n")
    if memory := _memory(units):
        out.append("| memory, MB | units | first: before | after | last: before | after | largest growth in a unit |\n")
        out.append("|---|---:|---:|---:|---:|---:|---:|\n")
        out.extend(memory)
        out.append("\n")
    faults = [fault for line in units for fault in line["faults"]]
    out.append(
        "".join(f"- {' '.join(fault.split())}\n" for fault in faults[:50]) + "\n" if faults else "No faults.\n\n"
    )
    return "".join(out)


def _memory(units: Sequence[dict[str, Any]]) -> list[str]:
    found: dict[str, list[tuple[float, float]]] = {}
    for line in units:
        for name, (before, after) in line["memory"].items():
            found.setdefault(name, []).append((before, after))
    rows = []
    for name, pairs in found.items():
        (first, then), (last, end) = pairs[0], pairs[-1]
        growth = max(after - before for before, after in pairs)
        figures = " | ".join(f"{figure:.0f}" for figure in (first, then, last, end))
        rows.append(f"| `{name}` | {len(pairs)} | {figures} | {growth:+.0f} |\n")
    return rows


def _engine() -> str:
    """What Stockfish says of itself first."""
    answer = subprocess.run([find_engine(None)], input="quit\n", capture_output=True, text=True, check=False)
    return answer.stdout.partition(" by ")[0].strip() or "Stockfish"
