"""matplotlib without a screen and without global state; an optional dependency."""

from __future__ import annotations

from typing import Any

from diffusearch.errors import UserError


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure and its axes (as `subplots` gives them); nothing to close, pyplot does not know it."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError("Pictures need matplotlib: install diffusearch[figures].") from error
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns)
