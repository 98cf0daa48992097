"""Which rows are measured on: the first, those behind others, or drawn by a seed; never more than are read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffusearch.errors import UserError
from diffusearch.evaluation.rows import chosen


@given(st.integers(0, 30), st.none() | st.integers(1, 40), st.none() | st.integers(0, 5), st.integers(0, 40))
def test_rows_behind_others(count: int, limit: int | None, seed: int | None, skip: int) -> None:
    found = chosen(range(count), limit, seed, skip)
    rest = list(range(count))[skip:]
    assert len(found) == min(len(rest), len(rest) if limit is None else limit)
    assert len(set(found)) == len(found)
    assert set(found) <= set(rest)
    if seed is None or limit is None:
        assert found == rest[:limit]
    assert found == chosen(range(count), limit, seed, skip)


def test_a_seed_draws_from_the_whole_rest() -> None:
    drawn = {row for seed in range(40) for row in chosen(range(10), 3, seed, 4)}
    assert drawn == set(range(4, 10))


def test_no_more_is_read_than_is_needed() -> None:
    def rows() -> Iterator[int]:
        yield from range(5)
        raise AssertionError("read on")

    assert chosen(rows(), 2, None, 3) == [3, 4]


@pytest.mark.parametrize(("limit", "skip", "words"), [(0, 0, "--limit 0"), (-3, 0, "--limit -3"), (1, -1, "--skip -1")])
def test_numbers_that_choose_nothing_are_refused(limit: int, skip: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        chosen(range(3), limit, None, skip)
