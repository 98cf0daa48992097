"""The charts of reports and exhibits as PNG: bars, curves and points with their intervals."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from diffusearch.evaluation.chart_notes import Note, place_notes
from diffusearch.evaluation.figures import new_figure
from diffusearch.evaluation.paper import paper_figure, paper_name
from diffusearch.evaluation.record import apart_from

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
                figure_there = paper_figure("main", f"{paper_name(one['agent'], one.get('recipe'))}, {games}", metric)
                if figure_there is not None:
                    axis.plot(figure_there, place, marker="D", color=colour, linestyle="none")
        names = ["\n".join(filter(None, (one["agent"], apart_from(one)))) for one in results]
        axis.set_yticks(range(len(results)), names)
        axis.invert_yaxis()
        axis.set_xlim(0, 100)
        axis.set_xlabel(f"{metric}, % (bars: here; diamonds: paper, 10k light, 100k dark)")
        axis.grid(axis="x", alpha=0.3)
    return _png(figure)


def futures_lines(result: dict[str, Any], title: str = "") -> bytes:
    """Valid and best moves, valid states and transitions by future step; the paper's only beside joint denoising."""
    figure, axis = new_figure(1, 1, size=(7, 4.5))
    denoised = paper_name(result["agent"], result.get("recipe")) == "DiffuSearch"
    papers = (("10k games", ":"), ("100k games", "--")) if denoised else ()
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
    axis.set_ylabel("% of imagined steps")
    axis.set_title(title)
    axis.set_xticks([row["step"] for row in result["steps"]])
    axis.set_ylim(-2, 102)
    _legend_below(figure, axis)
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
    papers: dict[str, list[tuple[float, float]]],
    axis_label: str,
    notes: dict[str, str] | None = None,
) -> bytes:
    """Lines with intervals: label -> share, label -> (series, x); dashed lines through the paper's (x, percentage).

    `notes` are written beside the points of a series that is not sorted by x: each point goes on from the one before.
    """
    figure, axis = new_figure(1, 1, size=(7, 5))
    written: list[Note] = []
    for name, colour, labels in _by_series(points, notes):
        ours = [(points[label][1], shares[label]) for label in labels if label in shares]
        if ours:
            _line(axis, [x for x, _ in ours], [share for _, share in ours], colour, name)
        for label in labels:
            if label in shares and label in (notes or {}):
                place = points[label][1], 100 * shares[label]["accuracy"]
                written.append(Note((notes or {})[label], *place, colour))
        if theirs := sorted(papers.get(name, [])):
            axis.plot(*zip(*theirs, strict=True), "D--", color=colour, alpha=0.5, label=f"{name}, paper")
    ticks = ticks_at([x for _, x in points.values()] + [x for theirs in papers.values() for x, _ in theirs])
    if ticks[0] > 0 and ticks[-1] / ticks[0] > 15:
        axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, [f"{x:,g}" if x < 10_000 else f"{x / 1000:g}k" for x in ticks])
    axis.minorticks_off()
    axis.set_xlabel(axis_label)
    axis.set_ylabel("actions, %")
    _legend_below(figure, axis)
    axis.grid(alpha=0.3)
    place_notes(axis, written)
    return _png(figure)


def times(
    milliseconds: dict[str, dict[str, float]],
    shares: dict[str, dict[str, Any]],
    points: dict[str, tuple[str, float]],
    axis_label: str,
    clock: str,
    notes: dict[str, str] | None = None,
) -> bytes:
    """Time of a decision against x, with a band from the 10th to the 90th percentile; and accuracy against time."""
    figure, (left, right) = new_figure(1, 2, size=(11, 5))
    written: list[Note] = []
    for name, colour, labels in _by_series(points, notes):
        timed = [label for label in labels if label in milliseconds]
        if not timed:
            continue
        xs = [points[label][1] for label in timed]
        low, middle, high = ([milliseconds[label][key] for label in timed] for key in ("p10", "median", "p90"))
        left.plot(xs, middle, "o-", color=colour, label=name)
        left.fill_between(xs, low, high, color=colour, alpha=0.15)
        both = [(milliseconds[label]["median"], shares[label]) for label in timed if label in shares]
        if both:
            _error_bars(right, [spent for spent, _ in both], [share for _, share in both], colour, name)
        for label in timed:
            if label in (notes or {}):
                written.append(Note((notes or {})[label], points[label][1], milliseconds[label]["median"], colour))
    left.set_yscale("log")
    left.yaxis.set_major_formatter("{x:g}")
    left.set_xlabel(axis_label)
    left.set_ylabel(f"{clock} a move (median; band: 10 to 90 %)")
    right.set_xscale("log")
    right.xaxis.set_major_formatter("{x:g}")
    right.set_xlabel(f"{clock} a move, batch 1 (median)")
    right.set_ylabel("actions, %")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    _legend_below(figure, left)
    place_notes(left, written)
    return _png(figure)


def _error_bars(axis: Any, xs: Sequence[float], shares: Sequence[dict[str, Any]], colour: str, label: str) -> None:
    """Shares in percent with their intervals, joined in the order given."""
    each = [(share["accuracy"], *share["interval"]) for share in shares]
    ends = [[100 * (value - low) for value, low, _ in each], [100 * (high - value) for value, _, high in each]]
    values = [100 * value for value, _, _ in each]
    axis.errorbar(xs, values, yerr=ends, fmt="o-", color=colour, ecolor=colour, elinewidth=1, capsize=3, label=label)


def _by_series(points: dict[str, tuple[str, float]], notes: dict[str, str] | None) -> list[tuple[str, str, list[str]]]:
    """Each curve with its colour and its labels: by x, or in the order given where they have notes."""
    out = []
    for number, name in enumerate(dict.fromkeys(name for name, _ in points.values())):
        labels = [label for label, (own, _) in points.items() if own == name]
        if not any(label in (notes or {}) for label in labels):
            labels.sort(key=lambda label: points[label][1])
        out.append((name, SERIES[number % len(SERIES)], labels))
    return out


def _legend_below(figure: Any, axis: Any) -> None:
    """The legend below the axes, where it hides nothing."""
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        columns = 4 if sum(map(len, labels)) < 60 else 3  # longer words would leave the figure
        figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(handles)), fontsize=8)


def ticks_at(values: Iterable[float]) -> list[float]:
    """The values of an axis that get a tick: whole numbers. Measured depths between them are too close for labels."""
    every = sorted(set(values))
    return [value for value in every if float(value).is_integer()] or every


def _line(axis: Any, xs: Sequence[float], shares: Sequence[dict[str, Any]], colour: str, label: str) -> None:
    """A curve of shares in percent with its intervals as a band; a single point has an error bar."""
    if len(xs) == 1:
        _error_bars(axis, xs, shares, colour, label)
        return
    axis.plot(xs, [100 * share["accuracy"] for share in shares], "o-", color=colour, label=label)
    low, high = ([100 * share["interval"][end] for share in shares] for end in (0, 1))
    axis.fill_between(xs, low, high, color=colour, alpha=0.15)


@dataclass(frozen=True)
class Bars:
    """One panel: a metric, its shares by label, and the paper's percentages."""

    metric: str
    shares: dict[str, dict[str, Any]]
    papers: dict[str, float]


def compare_bars(labels: Sequence[str], panels: Sequence[Bars]) -> bytes:
    """Labelled shares with intervals, a panel for each metric, and a diamond where the paper's figure stands."""
    figure, found = new_figure(1, len(panels), size=(5 + 4 * len(panels), 1.4 + 0.42 * len(labels)))
    for number, (axis, panel) in enumerate(zip([found] if len(panels) == 1 else found, panels, strict=True)):
        there = {label: value for label, value in panel.papers.items() if label in labels}
        for place, label in enumerate(labels):
            if label in panel.shares:
                _bar(axis, place, panel.shares[label])
            if label in there:
                axis.plot(there[label], place, marker="D", color=PAPER_100K, linestyle="none")
        axis.set_yticks(range(len(labels)), labels if number == 0 else [""] * len(labels))
        axis.set_ylim(len(labels) - 0.4, -0.6)
        ends = [100 * share["interval"][1] for share in panel.shares.values()] + list(there.values())
        axis.set_xlim(0, min(100.0, 10 * math.ceil(1.05 * max(ends, default=100.0) / 10)))
        axis.set_xlabel(f"{panel.metric}, %" + (" (bars: here; diamonds: paper)" if there else ""))
        axis.grid(axis="x", alpha=0.3)
    return _png(figure)


def _bar(axis: Any, place: int, share: dict[str, Any]) -> None:
    value, (low, high) = share["accuracy"], share["interval"]
    axis.barh(place, 100 * value, color=OURS, height=0.6)
    axis.errorbar(100 * value, place, xerr=[[100 * (value - low)], [100 * (high - value)]], color="black", capsize=3)
