"""Notes of charts touch nothing that is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from diffusearch.evaluation.chart_notes import Note, place_notes
from diffusearch.evaluation.figures import new_figure


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_notes_touch_no_line_no_point_and_no_other_note(scale: str) -> None:
    """A steep line, one that crosses it and points close together: up and to the right is not free everywhere."""
    figure, axis = new_figure(1, 1, size=(7, 5))
    steep, flat = [(1.0, 1.0), (1.1, 2.0), (1.2, 4.0), (1.9, 9.0)], [(0.5, 2.1), (2.5, 2.0)]
    for line in (steep, flat):
        axis.plot(*zip(*line, strict=True), "o-")
    axis.set_yscale(scale)
    notes = [Note(str(100 * number), x, y, "black") for number, (x, y) in enumerate((*steep, flat[1]))]
    place_notes(axis, notes)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axis.texts]
    assert [text.get_text() for text in axis.texts] == ["0", "100", "200", "300", "400"]
    for number, box in enumerate(boxes):
        assert not [other for other in boxes[number + 1 :] if box.overlaps(other)]
        assert axis.get_window_extent().containsx(box.x0)
        for line in axis.lines:
            path = axis.transData.transform_path(line.get_path())
            assert not path.intersects_bbox(box, filled=False)


def test_without_notes_nothing_is_drawn() -> None:
    axis: Any = None
    place_notes(axis, [])
