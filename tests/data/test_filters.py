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


@pytest.mark.parametrize("date", ["20130101", "201301", "2013.1", "2013.01.", "2013.01.1", "13", "", "2013-01-01"])
def test_a_date_in_another_form_is_refused(date: str) -> None:
    for bound in ("since", "until"):
        with pytest.raises(UserError, match=r"write YYYY, YYYY\.MM or YYYY\.MM\.DD"):
            HeaderFilter(**{bound: date})


@pytest.mark.parametrize("date", ["2013.??.??", "2013", "20130601", "2013-06-01"])
def test_a_game_without_the_month_fails_a_bound_with_one(date: str) -> None:
    game = {"Date": date}
    assert HeaderFilter(since="2013.02").why_dropped(game) == "date"
    assert HeaderFilter(until="2013.08").why_dropped(game) == "date"
    assert HeaderFilter(since="2013", until="2013").why_dropped(game) is None
