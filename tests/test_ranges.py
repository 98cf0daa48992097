from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import pytest

from diffusearch.errors import UserError
from diffusearch.ranges import Range, check_ranges


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "words"),
    [
        (Range(low=1), [1, 10**400, 1.5], [0, -1, 0.99, math.nan, math.inf], "at least 1"),
        (Range(low=0, high=1), [0, 1, 0.5], [-1e-9, 1.1, 10**400, -(10**400)], "from 0 to 1"),
        (Range(low=1, high=1_000_000), [1_000_000], [1_000_001], "from 1 to 1,000,000"),
        (Range(above=0), [1e-300], [0, -1, math.inf], "above 0"),
        (Range(low=0, below=1), [0, 0.999], [1, 1.0], "at least 0 and below 1"),
        (Range(above=0, high=1), [1, 0.1], [0, 2], "above 0 and at most 1"),
        (Range(), [0, -1e308], [math.nan, -math.inf], "a finite number"),
    ],
)
def test_ends_are_in_or_out_as_the_words_say(
    limits: Range, inside: list[float], outside: list[float], words: str
) -> None:
    assert all(value in limits for value in inside)
    assert not any(value in limits for value in outside)
    assert limits.words == words


@dataclass
class Oven:
    heat: Annotated[float, Range(low=0, high=300)] = 20.0
    name: str = "oven"
    trays: Annotated[int, Range(low=1)] = 2

    def __post_init__(self) -> None:
        check_ranges(self)


def test_fields_are_checked_against_their_annotations() -> None:
    assert Oven(heat=300, trays=1).heat == 300
    with pytest.raises(UserError, match="heat is from 0 to 300, not 301"):
        Oven(heat=301)
    with pytest.raises(UserError, match="trays is at least 1, not 0"):
        Oven(trays=0)
