"""The pictures of an exhibit: curves with intervals, times, bars and futures, the paper's figures in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from diffusearch.evaluation import charts
from diffusearch.evaluation.paper import paper_figure
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.plan import Setting

SEARCHES = {"mcts": "MCTS, fair", "mcts-as-published": "MCTS, as published"}
Shares = dict[str, dict[str, Any]]  # label -> accuracy and interval


@dataclass
class Shown:
    """What was measured of an exhibit, by label."""

    actions: Shares = field(default_factory=dict)
    puzzles: Shares = field(default_factory=dict)
    latency: dict[str, dict[str, Any]] = field(default_factory=dict)
    depths: dict[str, dict[str, Any]] = field(default_factory=dict)  # of trees
    futures: dict[str, dict[str, Any]] = field(default_factory=dict)


class Picture(NamedTuple):
    """A drawn PNG."""

    name: str  # for its file
    words: str  # what it shows, for those who do not see it
    content: bytes


def pictures(exhibit: Exhibit, shown: Shown, setting: Setting, clock: str = "milliseconds") -> list[Picture]:
    """All pictures; `clock` is the time of latency results that is drawn."""
    rows = {setting.shown(row.label): row for row in exhibit.rows}
    drawn: list[Picture] = []
    name, title = exhibit.name, exhibit.title
    points = {label: (row.series, row.x) for label, row in rows.items() if row.series}
    if points and shown.actions:
        searched, notes = _searches(exhibit, rows, shown.depths)
        points |= searched
        content = charts.curves(shown.actions, points, _paper_points(exhibit, rows, setting), exhibit.axis, notes)
        drawn.append(Picture(name, title, content))
        if shown.latency:
            milliseconds = {label: result[clock] for label, result in shown.latency.items()}
            words = clock.replace("_milliseconds", " ms").replace("milliseconds", "ms")
            content = charts.times(milliseconds, shown.actions, points, exhibit.axis, words, notes)
            drawn.append(Picture(f"{name}-latency", f"{title}: the time of a move", content))
    elif shown.actions or shown.puzzles:
        panels = [
            charts.Bars(metric, shares, _papers(metric, exhibit, rows, setting))
            for metric, shares in (("actions", shown.actions), ("puzzles", shown.puzzles))
            if shares
        ]
        measured = [label for label in rows if any(label in panel.shares for panel in panels)]
        drawn.append(Picture(name, title, charts.compare_bars(measured, panels)))
        timed = [
            {**shown.actions[label], "agent": label, "milliseconds": result[clock]}
            for label, result in shown.latency.items()
            if label in shown.actions
        ]
        if timed:
            content = charts.latency_points({"rows": timed})
            drawn.append(Picture(f"{name}-latency", f"{title}: the time of a move", content))
    for number, (label, result) in enumerate(shown.futures.items(), start=1):
        file = name if number == 1 else f"{name}-{number}"
        drawn.append(Picture(file, f"{title}: {label}", charts.futures_lines(result, label)))
    return drawn


def _papers(metric: str, exhibit: Exhibit, rows: Mapping[str, Row], setting: Setting) -> dict[str, float]:
    """The paper's percentages of the rows."""
    table = exhibit.paper or exhibit.name
    each = {label: paper_figure(table, setting.in_paper(row.label), metric) for label, row in rows.items()}
    return {label: value for label, value in each.items() if value is not None}


def _paper_points(exhibit: Exhibit, rows: Mapping[str, Row], setting: Setting) -> dict[str, list[tuple[float, float]]]:
    """The paper's points of each curve."""
    found: dict[str, dict[float, float]] = {}
    for label, value in _papers("actions", exhibit, rows, setting).items():
        found.setdefault(rows[label].series, {})[rows[label].x] = value
    for series, x, label in exhibit.beyond:
        there = paper_figure(exhibit.paper or exhibit.name, setting.in_paper(label), "actions")
        if there is not None:
            found.setdefault(series, {})[x] = there
    return {series: sorted(points.items()) for series, points in found.items()}


def _searches(
    exhibit: Exhibit, rows: Mapping[str, Row], depths: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, tuple[str, float]], dict[str, str]]:
    """Searches as points of a curve: their x is the depth that was measured, and a note tells the simulations."""
    points: dict[str, tuple[str, float]] = {}
    notes: dict[str, str] = {}
    for label, row in rows.items():
        depth = depths.get(label, {}).get("mean_depth")
        if exhibit.axis and not row.series and depth is not None:
            word = row.agent.partition(":")[0]
            points[label] = (f"{SEARCHES.get(word, word)} (simulations)", float(depth))
            notes[label] = row.agent.rpartition("simulations=")[2]
    return points, notes
