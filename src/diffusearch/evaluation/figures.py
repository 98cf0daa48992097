"""matplotlib figures for files: no display, no global state. matplotlib is an optional dependency."""

from __future__ import annotations

from typing import Any

from diffusearch.extras import require


def require_matplotlib() -> None:
    """Refuse where matplotlib is missing: asked before hours of work that end in a picture."""
    require("matplotlib", "a picture")


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure and its axes (as `subplots` gives them); nothing to close, pyplot does not know it."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns)
