"""The header filter: chooses games by rating, speed, date and termination before their moves are parsed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from diffusearch.errors import UserError

# Lichess's classes, by the expected length of a game for one side: base + 40 increments, in seconds.
SPEEDS: dict[str, float] = {"ultrabullet": 30, "bullet": 180, "blitz": 480, "rapid": 1500, "classical": math.inf}

HIGHEST_RATING = 9999
_DATE = re.compile(r"[0-9]{4}(\.[0-9]{2}(\.[0-9]{2})?)?")


@dataclass(frozen=True)
class HeaderFilter:
    """Every bound is inclusive. A game without the header that a bound needs is dropped."""

    min_rating: int | None = None  # of both players
    max_rating: int | None = None  # of both players
    speeds: tuple[str, ...] = ()  # keys of SPEEDS
    since: str | None = None  # YYYY[.MM[.DD]]
    until: str | None = None
    terminations: tuple[str, ...] = ()  # e.g. "Normal", case does not matter

    def __post_init__(self) -> None:
        for speed in self.speeds:
            if speed not in SPEEDS:
                raise UserError(f"unknown speed {speed!r}; choose among {', '.join(SPEEDS)}")
        for date in (self.since, self.until):
            if date is not None and not _DATE.fullmatch(date):
                raise UserError(f"bad date {date!r}; write YYYY, YYYY.MM or YYYY.MM.DD")

    def why_dropped(self, headers: Mapping[str, str]) -> str | None:
        """The name of the first bound that the game fails, or None if it passes."""
        if self.min_rating is not None or self.max_rating is not None:
            ratings = [rating_of(headers.get(tag)) for tag in ("WhiteElo", "BlackElo")]
            low, high = self.min_rating or 0, self.max_rating or 10**9
            if not all(rating is not None and low <= rating <= high for rating in ratings):
                return "rating"
        if self.speeds and speed_of(headers.get("TimeControl", "")) not in self.speeds:
            return "time control"
        date = headers.get("UTCDate") or headers.get("Date", "")
        if self.since and ((day := _as_precise(date, self.since)) is None or day < self.since):
            return "date"
        if self.until and ((day := _as_precise(date, self.until)) is None or day > self.until):
            return "date"
        if self.terminations:
            wanted = {termination.lower() for termination in self.terminations}
            if headers.get("Termination", "").lower() not in wanted:
                return "termination"
        return None


def _as_precise(date: str, bound: str) -> str | None:
    """A game's date as precise as a bound, to be compared as text; None where it is not known so far (2013.??.??)."""
    start = date[: len(bound)]
    return start if len(start) == len(bound) and _DATE.fullmatch(start) else None


def speed_of(time_control: str) -> str | None:
    """Lichess's class of a TimeControl header such as 180+2; None if it has none."""
    base, _, increment = time_control.partition("+")
    seconds = number(base)
    if seconds is None:
        return None
    expected = seconds + 40 * (number(increment) or 0)
    return next(speed for speed, limit in SPEEDS.items() if expected < limit)


def number(text: str | None) -> int | None:
    """The whole number of a header, or None where there is none or more than nine digits."""
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else None


def rating_of(text: str | None) -> int | None:
    """The rating of a header or table, or None where it cannot be one."""
    rating = number(text)
    return rating if rating is not None and rating <= HIGHEST_RATING else None
