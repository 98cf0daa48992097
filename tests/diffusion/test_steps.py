"""The plan of the calls: times of the noise process, and what is fixed after each call."""

from __future__ import annotations

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.steps import schedule, time_grid
from diffusearch.tokens.layout import layout as make_layout


def test_time_grid() -> None:
    assert time_grid(20, 20) == list(range(20, -1, -1))
    assert time_grid(1, 20) == [20, 0]
    assert time_grid(50, 4) == [4, 3, 2, 1, 0]
    grid = time_grid(7, 20)
    assert grid[0] == 20
    assert grid[-1] == 0
    assert len(set(grid)) == 8


def test_plies_fix_a_whole_segment_at_a_call() -> None:
    layout = make_layout("s-asa", 3, "compact", 8)
    calls = schedule(layout, Decoding(order="plies"), 20)
    assert [keep for *_, keep in calls] == [1, 69, 70, 138, 139]  # a_0, s_1, a_1, s_2, a_2
    assert calls[0][0] == 20
    assert calls[-1][1] == 0
    fewer = schedule(layout, Decoding(order="plies", steps=2), 20)
    assert [keep for *_, keep in fewer] == [1, 139]  # the first move by itself, then all the rest
    assert [keep for *_, keep in schedule(layout, Decoding(order="plies", steps=3), 20)] == [1, 70, 139]
    assert [keep for *_, keep in schedule(layout, Decoding(order="plies", steps=1), 20)] == [139]
