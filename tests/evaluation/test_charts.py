"""Charts: ticks, words within the figure, intervals, the order of points."""

from __future__ import annotations

from typing import Any

import pytest

from diffusearch.evaluation import charts
from diffusearch.evaluation.charts import ticks_at


def test_whole_numbers_get_ticks_and_measured_depths_do_not() -> None:
    assert ticks_at([3, 1.1, 0, 1, 1.5, 3]) == [0, 1, 3]


def test_an_axis_without_whole_numbers_keeps_all_ticks() -> None:
    assert ticks_at([2.5, 1.5]) == [1.5, 2.5]


# --- what is on the axes ---------------------------------------------------------------------------------------------


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn, before they become files."""
    kept: list[Any] = []

    def keep(figure: Any) -> bytes:
        figure.draw_without_rendering()
        kept.append(figure)
        return b""

    monkeypatch.setattr(charts, "_png", keep)
    return kept


def inside(figure: Any) -> bool:
    """Whether the words on the axes and in the legend are all within the figure."""
    whole = figure.bbox
    words = [one for axis in figure.axes for one in (axis.xaxis.label, axis.yaxis.label)] + figure.legends
    boxes = [one.get_window_extent() for one in words]
    return all(box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1 for box in boxes)


def share(value: float) -> dict[str, Any]:
    return {"accuracy": value, "interval": [value - 0.02, value + 0.02]}


def test_words_of_curves_are_within_the_figure(figures: list[Any]) -> None:
    names = ("separate models", "single model", "MCTS, fair (simulations)", "MCTS, as published (simulations)")
    points = {f"{name} {x}": (name, float(x)) for name in names for x in range(8)}
    papers = {name: [(0.0, 30.0), (7.0, 40.0)] for name in names[:2]}
    charts.curves({label: share(0.2) for label in points}, points, papers, "future steps imagined")
    spent = {"median": 50.0, "p10": 40.0, "p90": 60.0}
    charts.times(dict.fromkeys(points, spent), {label: share(0.2) for label in points}, points, "steps", "processor ms")
    assert [inside(figure) for figure in figures] == [True, True]
    assert [axis.get_ylabel() for axis in figures[1].axes] == [
        "processor ms a move (median; band: 10 to 90 %)",
        "actions, %",
    ]


def test_a_single_point_shows_its_interval(figures: list[Any]) -> None:
    charts.curves({"a": share(0.2)}, {"a": ("one", 1.0)}, {}, "layers")
    (axis,) = figures[0].axes
    (bar,) = axis.collections
    assert bar.get_segments()[0][:, 1].tolist() == pytest.approx([18.0, 22.0])


def test_points_with_notes_are_joined_in_their_own_order(figures: list[Any]) -> None:
    """More simulations are not always deeper: the line goes on from fewer to more."""
    points = {"ten": ("search", 1.2), "twenty": ("search", 1.1), "far": ("model", 3.0), "near": ("model", 0.0)}
    notes = {"ten": "10", "twenty": "20"}
    charts.curves({label: share(0.2) for label in points}, points, {}, "depth", notes)
    (axis,) = figures[0].axes
    assert [line.get_xdata().tolist() for line in axis.lines] == [[1.2, 1.1], [0.0, 3.0]]
    assert [text.get_text() for text in axis.texts] == ["10", "20"]


def test_bars_end_behind_the_largest_and_name_diamonds_only_where_there_are_some(figures: list[Any]) -> None:
    charts.compare_bars(["a", "b"], [charts.Bars("actions", {"a": share(0.2)}, {"b": 41.3})])
    charts.compare_bars(["a", "b"], [charts.Bars("actions", {"a": share(0.2), "b": share(0.1)}, {})])
    with_paper, without = (figure.axes[0] for figure in figures)
    assert with_paper.get_xlim() == (0, 50)
    assert without.get_xlim() == (0, 30)
    assert "diamonds: paper" in with_paper.get_xlabel()
    assert "paper" not in without.get_xlabel()
