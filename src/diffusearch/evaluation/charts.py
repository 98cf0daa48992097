"""The charts of reports and exhibits as PNG: bars, curves and points with their intervals."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from diffusearch.evaluation.figures import new_figure
from diffusearch.evaluation.paper import paper_figure, paper_name
from diffusearch.evaluation.record import rows_of

SERIES = ("#1f5fa8", "#b5532c", "#3a8f4d", "#7a4fa3")
OURS, PAPER_10K, PAPER_100K = "#1f5fa8", "#c9a227", "#b5532c"


def _png(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150)
    return out.getvalue()


def main_bars(actions: Sequence[dict[str, Any]], puzzles: Sequence[dict[str, Any]]) -> bytes:
    """Action and puzzle accuracy of every agent with intervals, and marks where the paper's agents stand."""
    rows = max(len(actions), len(puzzles), 1)
    figure, axes = new_figure(1, 2, size=(12, 1.8 + 0.5 * rows))
    for axis, results, metric in zip(axes, (actions, puzzles), ("actions", "puzzles"), strict=True):
        for place, one in enumerate(results):
            _bar(axis, place, one)
            for games, colour in (("10k games", PAPER_10K), ("100k games", PAPER_100K)):
                figure_there = paper_figure("main", f"{paper_name(one['agent'])}, {games}", metric)
                if figure_there is not None:
                    axis.plot(figure_there, place, marker="D", color=colour, linestyle="none")
        axis.set_yticks(range(len(results)), [", ".join(filter(None, (one["agent"], rows_of(one)))) for one in results])
        axis.invert_yaxis()
        axis.set_xlim(0, 100)
        axis.set_xlabel(f"{metric}, % (bars: here; diamonds: paper, 10k light, 100k dark)")
        axis.grid(axis="x", alpha=0.3)
    return _png(figure)


def futures_lines(result: dict[str, Any]) -> bytes:
    """Valid and best moves, valid states and transitions by future step; the paper's only beside `diffusearch`."""
    figure, axis = new_figure(1, 1, size=(7, 4.5))
    papers = (("10k games", ":"), ("100k games", "--")) if paper_name(result["agent"]) == "DiffuSearch" else ()
    names = {"valid_action": "valid a_i", "best": "best a_i", "valid_state": "valid s_i", "match": "match a_(i-1)-s_i"}
    for (column, label), colour in zip(names.items(), SERIES, strict=True):
        seen = [(row["step"], row[column]) for row in result["steps"] if row[column] is not None]
        if seen:
            _line(axis, [step for step, _ in seen], [share for _, share in seen], colour, label)
        for games, style in papers:
            steps = [row["step"] for row in result["steps"]]
            there = {step: paper_figure("futures", f"{games}, step {step}", column) for step in steps}
            points = [(step, value) for step, value in there.items() if value is not None]
            if points:
                axis.plot(*zip(*points, strict=True), style, color=colour, alpha=0.6)
    axis.set_xlabel("future step" + (" (solid: here; dotted: paper 10k; dashed: paper 100k)" if papers else ""))
    axis.set_ylabel("%")
    axis.set_xticks([row["step"] for row in result["steps"]])
    axis.set_ylim(0, 101)
    axis.legend()
    axis.grid(alpha=0.3)
    return _png(figure)


def latency_points(result: dict[str, Any]) -> bytes:
    """Accuracy against milliseconds a move; rows of one agent with other options are joined by a line."""
    figure, axis = new_figure(1, 1, size=(7, 4.5))
    families: dict[str, list[dict[str, Any]]] = {}
    for row in result["rows"]:
        families.setdefault(row["agent"].partition("?")[0], []).append(row)
    for name, rows in families.items():
        rows.sort(key=lambda row: float(row["milliseconds"]["median"]))
        shares = [row["accuracy"] for row in rows]
        low = [100 * (share - row["interval"][0]) for share, row in zip(shares, rows, strict=True)]
        high = [100 * (row["interval"][1] - share) for share, row in zip(shares, rows, strict=True)]
        times = [row["milliseconds"]["median"] for row in rows]
        axis.errorbar(times, [100 * share for share in shares], yerr=[low, high], fmt="o-", capsize=3, label=name)
        for row, time in zip(rows, times, strict=True):
            options = row["agent"].partition("?")[2]
            if options:
                axis.annotate(
                    options, (time, 100 * row["accuracy"]), fontsize=7, xytext=(4, 4), textcoords="offset points"
                )
    axis.set_xscale("log")
    axis.set_xlabel("milliseconds a move, batch 1 (median)")
    axis.set_ylabel("actions, %")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    return _png(figure)


def curves(
    shares: dict[str, dict[str, Any]],
    points: dict[str, tuple[str, float]],
    papers: dict[str, float | None],
    axis_label: str,
) -> bytes:
    """Lines with intervals: label -> share, label -> (series, x); dashed lines through the paper's percentages."""
    figure, axis = new_figure(1, 1, size=(7, 4.5))
    series = list(dict.fromkeys(name for name, _ in points.values()))
    for number, name in enumerate(series):
        colour = SERIES[number % len(SERIES)]
        labels = sorted(
            (label for label, (own, _) in points.items() if own == name), key=lambda label: points[label][1]
        )
        ours = [(points[label][1], shares[label]) for label in labels if label in shares]
        if ours:
            _line(axis, [x for x, _ in ours], [share for _, share in ours], colour, name)
        theirs = [(points[label][1], value) for label in labels if (value := papers.get(label)) is not None]
        if theirs:
            axis.plot(*zip(*theirs, strict=True), "D--", color=colour, alpha=0.5, label=f"{name}, paper")
    ticks = sorted({x for _, x in points.values()})
    if ticks[0] > 0 and ticks[-1] / ticks[0] > 15:
        axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axis.minorticks_off()
    axis.set_xlabel(axis_label)
    axis.set_ylabel("actions, %")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    return _png(figure)


def _line(axis: Any, xs: Sequence[float], shares: Sequence[dict[str, Any]], colour: str, label: str) -> None:
    """A curve of shares in percent with its intervals as a band."""
    axis.plot(xs, [100 * share["accuracy"] for share in shares], "o-", color=colour, label=label)
    low, high = ([100 * share["interval"][end] for share in shares] for end in (0, 1))
    axis.fill_between(xs, low, high, color=colour, alpha=0.15)


def compare_bars(rows: Sequence[tuple[str, dict[str, Any]]], papers: dict[str, float | None]) -> bytes:
    """Labelled shares with intervals, and a diamond where the paper's figure (percent) stands."""
    figure, axis = new_figure(1, 1, size=(9, 1.4 + 0.42 * len(rows)))
    for place, (label, share) in enumerate(rows):
        _bar(axis, place, share)
        there = papers.get(label)
        if there is not None:
            axis.plot(there, place, marker="D", color=PAPER_100K, linestyle="none")
    axis.set_yticks(range(len(rows)), [label for label, _ in rows])
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("actions, % (bars: here; diamonds: paper)")
    axis.grid(axis="x", alpha=0.3)
    return _png(figure)


def _bar(axis: Any, place: int, share: dict[str, Any]) -> None:
    value, (low, high) = share["accuracy"], share["interval"]
    axis.barh(place, 100 * value, color=OURS, height=0.6)
    axis.errorbar(100 * value, place, xerr=[[100 * (value - low)], [100 * (high - value)]], color="black", capsize=3)
