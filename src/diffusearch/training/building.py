"""Plain values (from TOML) -> dataclasses, checked against the types of the fields.

A field says all that is checked: its type, its choices (`Literal`) and its range (`Annotated[int, Range(...)]`).
Every refusal is one sentence with the key, the value and what the value must be.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterable
from typing import Any

from diffusearch.errors import UserError
from diffusearch.ranges import Range

_LONGEST = 60  # characters of a refused value in an error sentence
_TYPES = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false"}


def build(kind: Any, value: Any, where: str = "") -> Any:
    """The dataclass or other type `kind` of plain values; `where` is the dotted key for errors."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _table(kind, value, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        built = build(arguments[0], value, where)
        for limit in arguments[1:]:
            if isinstance(limit, Range) and built not in limit:
                raise UserError(f"{where} must be {limit.words}, not {shown(value)}")
        return built
    if origin is typing.Literal:
        if not any(value == choice and type(value) is type(choice) for choice in arguments):
            hint = did_you_mean(value, arguments) or f"choose one of {', '.join(map(str, arguments))}"
            raise UserError(f"{where} = {shown(value)} is unknown: {hint}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} must be a list, not {shown(value)}")
        return tuple(build(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if origin in (types.UnionType, typing.Union):  # X | None: TOML has no None, the key is left out instead
        return build(next(one for one in arguments if one is not types.NoneType), value, where)
    return _plain(kind, value, where)


def _table(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise UserError(f"{where} must be a table, not {shown(value)}")
    hints = typing.get_type_hints(kind, include_extras=True)
    keys = [field.name for field in dataclasses.fields(kind)]
    prefix = f"{where}." if where else ""
    for key in value:
        if key not in keys:
            inner = [name for name in _inner_keys(kind) if name.rpartition(".")[2] == key]
            below = f"did you mean {' or '.join(prefix + name for name in inner)}?" if inner else ""
            hint = below or did_you_mean(key, keys, prefix) or f"choose among {', '.join(keys)}"
            raise UserError(f"{prefix}{shown(key, quotes=False)} is unknown: {hint}")
    built = {key: build(hints[key], item, f"{prefix}{key}") for key, item in value.items()}
    try:
        return kind(**built)
    except UserError as error:  # what the dataclass itself refuses
        raise UserError(f"{where}: {error}" if where else str(error)) from None


def _inner_keys(kind: type, prefix: str = "") -> list[str]:
    """The dotted keys of the tables inside a table."""
    found: list[str] = []
    for name, hint in typing.get_type_hints(kind).items():
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            inside = f"{prefix}{name}."
            found += [inside + field.name for field in dataclasses.fields(hint)] + _inner_keys(hint, inside)
    return found


def _plain(kind: type, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise UserError(f"{where} is too large for a number of 64 bits: {shown(value)}") from None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UserError(f"{where} must be {_TYPES[kind]}, not {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where} must be a finite number, not {value}")
    return value


def did_you_mean(given: object, known: Iterable[object], prefix: str = "") -> str:
    """ "did you mean X?" with the nearest of the known words; empty if none is near."""
    near = difflib.get_close_matches(str(given)[:_LONGEST], [str(word) for word in known], n=1)
    return f"did you mean {prefix}{near[0]}?" if near else ""


def shown(value: Any, *, quotes: bool = True) -> str:
    """A value for an error sentence: cut where it is long, whatever it is."""
    try:
        text = repr(value) if quotes or not isinstance(value, str) else value
    except ValueError:  # an integer with more digits than Python prints
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else "a very large value"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
