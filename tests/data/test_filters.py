from __future__ import annotations

import pytest

from diffusearch.data.filters import HeaderFilter, speed_of
from diffusearch.errors import UserError

GAME = {
    "WhiteElo": "1500",
    "BlackElo": "1700",
    "TimeControl": "300+3",
    "Date": "2023.02.14",
    "Termination": "Normal",
}


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (HeaderFilter(), None),
        (HeaderFilter(min_rating=1500, max_rating=1700), None),
        (HeaderFilter(min_rating=1501), "rating"),
        (HeaderFilter(max_rating=1699), "rating"),
        (HeaderFilter(speeds=("blitz", "rapid")), None),
        (HeaderFilter(speeds=("bullet",)), "time control"),
        (HeaderFilter(since="2023.02", until="2023.02"), None),
        (HeaderFilter(since="2023.02.15"), "date"),
        (HeaderFilter(until="2022"), "date"),
        (HeaderFilter(terminations=("normal",)), None),
        (HeaderFilter(terminations=("Time forfeit",)), "termination"),
    ],
)
def test_a_game_passes_or_names_the_bound_it_fails(wanted: HeaderFilter, reason: str | None) -> None:
    assert wanted.why_dropped(GAME) == reason


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (HeaderFilter(min_rating=0), "rating"),
        (HeaderFilter(speeds=("blitz",)), "time control"),
        (HeaderFilter(since="1900"), "date"),
        (HeaderFilter(terminations=("Normal",)), "termination"),
    ],
)
def test_a_game_without_the_header_is_dropped(wanted: HeaderFilter, reason: str) -> None:
    assert wanted.why_dropped({"WhiteElo": "?", "TimeControl": "-", "Date": "????.??.??"}) == reason


def test_speeds_are_those_of_lichess() -> None:
    given = ["15+0", "60+0", "120+1", "180+0", "300+5", "600+0", "1800+0", "-", "?"]
    assert [speed_of(text) for text in given] == [
        "ultrabullet",
        "bullet",
        "bullet",
        "blitz",
        "rapid",
        "rapid",
        "classical",
        None,
        None,
    ]


def test_bad_bounds_are_the_users_error() -> None:
    with pytest.raises(UserError, match="warp"):
        HeaderFilter(speeds=("warp",))
    with pytest.raises(UserError, match="yesterday"):
        HeaderFilter(since="yesterday")
