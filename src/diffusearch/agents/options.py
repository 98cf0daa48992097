"""Options in an agent's text: each has a name, a kind, a default and one line of help; wrong ones are explained."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from diffusearch.errors import UserError


@dataclass(frozen=True)
class Kind:
    """What values an option takes: the words for people, and the parser (ValueError = refused)."""

    words: str
    parse: Callable[[str], Any]


@dataclass(frozen=True)
class Option:
    """One `name=value` of an agent's text; a default of None means that the agent decides."""

    name: str
    kind: Kind
    default: Any
    help: str


def integer(low: int, high: int = 2**31 - 1) -> Kind:
    """A whole number in [low, high]."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,10}", text):
            raise ValueError
        value = int(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return Kind(f"a whole number from {low} to {high}", parse)


def real(low: float, high: float | None = None) -> Kind:
    """A finite number in [low, high]."""

    def parse(text: str) -> float:
        value = float(text)
        if not (low <= value < float("inf")) or (high is not None and value > high):
            raise ValueError
        return value

    return Kind(f"a number from {low:g}" + ("" if high is None else f" to {high:g}"), parse)


def choice(*words: str) -> Kind:
    """One of some words."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return Kind("one of " + ", ".join(words), parse)


def _switch(text: str) -> bool:
    table = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}
    if text.lower() not in table:
        raise ValueError
    return table[text.lower()]


def _temperature(text: str) -> float:
    value = float(text)
    if not (value == 0.0 or 0.001 <= value <= 100.0):  # what is colder plays like 0, but overflows
        raise ValueError
    return value


TEMPERATURES = Kind("0, or a number from 0.001 to 100", _temperature)
SWITCH = Kind("on or off", _switch)


def _widths(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[0-9]{1,2}(x[0-9]{1,2}){0,7}", text):
        raise ValueError
    widths = tuple(map(int, text.split("x")))
    if not all(1 <= count <= 64 for count in widths) or math.prod(widths) > 1024:
        raise ValueError
    return widths


# Moves that minimax follows at each ply (search/minimax/tree.py).
WIDTHS = Kind("up to 8 numbers from 1 to 64 joined by x, such as 4x2x2x1, of at most 1024 leaves in all", _widths)


def nearest(word: str, words: Iterable[str]) -> str:
    """'did you mean X?' if something is close, else nothing."""
    close = difflib.get_close_matches(word, list(words), n=1)
    return f", did you mean '{close[0]}'?" if close else ""


def read(options: tuple[Option, ...], given: Mapping[str, str], whole: str) -> dict[str, Any]:
    """All options with their values, defaults filled in; `whole` is the agent's text, for the error messages."""
    known = {option.name: option for option in options}
    values = {option.name: option.default for option in options}
    for name, text in given.items():
        if name not in known:
            listed = ", ".join(known) if known else "none"
            raise UserError(
                f"agent '{whole}' has no option '{name}'{nearest(name, known) or '.'} Its options are: {listed}"
            )
        try:
            values[name] = known[name].kind.parse(text)
        except ValueError:
            raise UserError(f"option {name} of agent '{whole}' is {known[name].kind.words}, not '{text}'") from None
    return values
