"""Every exhibit by its name."""

from __future__ import annotations

from diffusearch.errors import UserError
from diffusearch.reproduce import (
    cases,
    data_size,
    depth,
    flagship,
    future_quality,
    futures,
    layers,
    main,
    paradigms,
    steps,
    training,
)
from diffusearch.reproduce.exhibit import Exhibit

_FILES = (main, paradigms, future_quality, training, futures, layers, steps, depth, data_size, cases, flagship)
EXHIBITS: dict[str, Exhibit] = {file.EXHIBIT.name: file.EXHIBIT for file in _FILES}


def exhibit(name: str) -> Exhibit:
    """The exhibit of that name."""
    if name not in EXHIBITS:
        raise UserError(f"There is no exhibit {name!r}: choose one of {', '.join(EXHIBITS)}.")
    return EXHIBITS[name]
