"""The short text that names an agent: WORD[:ARGUMENT][?NAME=VALUE&NAME=VALUE].

Examples: `diffusearch`, `s-a:runs/mine?temperature=0.5`, `mcts:runs/p,runs/v?simulations=50`, `stockfish:nodes=10000`.
Names and values may be percent-encoded (`%20` is a space, `%26` an ampersand).
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from diffusearch.errors import UserError


@dataclass(frozen=True)
class AgentText:
    """An agent's text, cut but not yet understood."""

    whole: str
    word: str
    argument: str | None  # what stands between ':' and '?', None if there is no ':'
    options: dict[str, str]


def cut(whole: str) -> AgentText:
    """Cut a text at the first '?' and the first ':' before it."""
    text = whole.strip()
    if not text:
        raise UserError("an agent's text is empty; write for example 'diffusearch' or 'stockfish:nodes=10000'")
    head, mark, tail = text.partition("?")
    word, colon, argument = head.partition(":")
    if mark and not tail:
        raise UserError(f"agent '{text}' ends with '?'; write options after it, e.g. '?seed=1', or leave it out")
    if colon and not argument:
        raise UserError(f"agent '{text}' has nothing after ':'; write what belongs there or leave the colon out")
    return AgentText(text, word, argument if colon else None, pairs(tail, text))


def pairs(tail: str, whole: str) -> dict[str, str]:
    """The `name=value` pairs of an options part."""
    out: dict[str, str] = {}
    if not tail:
        return out
    for part in tail.split("&"):
        name, equals, value = part.partition("=")
        name = unquote(name)
        if not (name and equals and value):
            raise UserError(f"'{part}' in agent '{whole}' is not of the form name=value; join several options by '&'")
        if name in out:
            raise UserError(f"option {name} is given twice in agent '{whole}'; keep one of them")
        out[name] = unquote(value)
    return out
