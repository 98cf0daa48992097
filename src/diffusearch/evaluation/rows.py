"""Which rows of a test file are measured on."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from diffusearch.errors import UserError

T = TypeVar("T")


def chosen(rows: Iterable[T], limit: int | None = None, seed: int | None = None, skip: int = 0) -> list[T]:
    """Behind the first `skip` rows the first `limit`, or with a seed a random `limit` of them; no more are read."""
    if limit is not None and limit < 1:
        raise UserError(f"--limit {limit} leaves nothing to measure: give a number of at least 1.")
    if skip < 0:
        raise UserError(f"--skip {skip} is no number of rows: give 0 or more.")
    rest = islice(rows, skip, None if limit is None or seed is not None else skip + limit)
    found = list(rest)
    if limit is None or seed is None or limit >= len(found):
        return found
    return random.Random(seed).sample(found, limit)
