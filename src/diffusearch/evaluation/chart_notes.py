"""Short notes beside points of a chart, each where it touches no line, no point and no other note."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

SIZE = 7  # points
REACHES = (4, 7, 11, 16)  # points between a note and its point; the nearest place that is free is taken
ANGLES = 16  # directions that are tried at each reach
CLEAR = 2.0  # points that should lie between a note and what is drawn
STEP = 2.0  # pixels between the samples of a line

Points = npt.NDArray[np.float64]  # [number, 2] in pixels


@dataclass(frozen=True)
class Note:
    """Words beside a point."""

    words: str
    x: float
    y: float
    colour: str


def place_notes(axis: Any, notes: Sequence[Note]) -> None:
    """Write the notes, after everything else is drawn on the axes: the free places depend on it."""
    if not notes:
        return
    figure = axis.figure
    figure.draw_without_rendering()  # settles layout and limits
    pixels = figure.dpi / 72
    taken = np.concatenate([_sampled(axis.transData.transform(line.get_xydata())) for line in axis.lines])
    inside = axis.get_window_extent()
    for note in notes:
        text = axis.annotate(
            note.words, (note.x, note.y), fontsize=SIZE, color=note.colour, xytext=(0, 0), textcoords="offset points"
        )
        text.set(ha="center", va="center")
        box = text.get_window_extent()
        half, centre = np.array([box.width, box.height]) / 2, axis.transData.transform((note.x, note.y))
        best: tuple[float, tuple[float, float]] = -math.inf, (0.0, 0.0)
        for reach in REACHES:
            for turn in range(ANGLES):
                angle = math.pi / 4 + 2 * math.pi * turn / ANGLES  # up and to the right first
                way = np.array([math.cos(angle), math.sin(angle)])
                middle = centre + way * (half + (reach + 3) * pixels)  # 3 points: the marker
                within = np.all(middle - half > inside.p0) and np.all(middle + half < inside.p1)
                gap = _gap(taken, middle, half) / pixels if within else -math.inf
                if min(gap, CLEAR) > best[0]:  # a farther place only where it is clearer
                    best = min(gap, CLEAR), tuple((middle - centre) / pixels)
        text.set_position(best[1])
        here = centre + np.array(best[1]) * pixels
        taken = np.concatenate([taken, _sampled(_outline(here, half))])


def _sampled(corners: Points) -> Points:
    """A line through the corners as points that lie close together."""
    parts = [corners[-1:]]
    for start, end in pairwise(corners):
        count = max(1, math.ceil(float(np.hypot(*(end - start))) / STEP))
        parts.append(start + (end - start) * np.linspace(0, 1, count, endpoint=False)[:, None])
    return np.concatenate(parts)


def _outline(middle: Points, half: Points) -> Points:
    """The corners of a box, and its middle line."""
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1], [-1, 0], [1, 0]])
    corners: Points = middle + signs * half
    return corners


def _gap(taken: Points, middle: Points, half: Points) -> float:
    """Pixels from a box to the nearest point that is taken; negative where one lies inside."""
    beyond = np.abs(taken - middle) - half
    outside = np.hypot(*np.maximum(beyond, 0).T)
    return float(np.where(outside > 0, outside, beyond.max(axis=1)).min())
