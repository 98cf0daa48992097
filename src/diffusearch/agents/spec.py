"""AgentSpec: the short text that names an agent, as a value: WORD[:ARGUMENT][?NAME=VALUE&NAME=VALUE].

Examples: `diffusearch`, `s-a:runs/mine?temperature=0.5`, `mcts:runs/p,runs/v?simulations=50`, `stockfish:nodes=10000`.
Argument, names and values may be percent-encoded (`%20` is a space, `%26` an ampersand, `%3F` a question mark). Change
options with `with_options`; never edit the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from diffusearch.errors import UserError

DEFAULT_AGENT = "search"  # what the page, UCI and the verbs play unless another is named: the best rating measured
_PLAIN = "-._~:/,+"  # besides letters and digits, characters that need no percent-encoding


@dataclass(frozen=True)
class AgentSpec:
    """An agent by its word, its argument and its options, not yet validated."""

    word: str
    argument: str | None = None  # what stands between ':' and '?', None if there is no ':'
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, whole: str) -> AgentSpec:
        """Cut a text at the first '?' and the first ':' before it.

        Options may stand straight after the colon (`stockfish:nodes=5`): nothing else there has a '=' and no '/'.
        """
        text = whole.strip()
        if not text:
            raise UserError("an agent's text is empty; write for example 'diffusearch' or 'stockfish:nodes=10000'")
        head, mark, tail = text.partition("?")
        word, colon, argument = head.partition(":")
        if mark and not tail:
            raise UserError(f"agent '{text}' ends with '?'; write options after it, e.g. '?seed=1', or leave it out")
        if colon and not argument:
            raise UserError(f"agent '{text}' has nothing after ':'; write what belongs there or leave the colon out")
        if "=" in argument and "/" not in argument:
            return cls(word, None, _pairs("&".join(filter(None, (argument, tail))), text))
        return cls(word, unquote(argument) if colon else None, _pairs(tail, text))

    def with_options(self, **options: object) -> AgentSpec:
        """The same agent with some options set; None removes one."""
        merged = {**self.options, **{name: None if value is None else str(value) for name, value in options.items()}}
        return AgentSpec(self.word, self.argument, {name: text for name, text in merged.items() if text is not None})

    def with_run(self, argument: str) -> AgentSpec:
        """The same agent with another run; refused if its text names one already."""
        if self.argument is not None:
            raise UserError(f"agent '{self}' names its weights already: leave '{argument}' out")
        return AgentSpec(self.word, argument, self.options)

    def __str__(self) -> str:
        head = self.word if self.argument is None else f"{self.word}:{_encoded(self.argument)}"
        tail = "&".join(f"{quote(name, _PLAIN)}={quote(text, _PLAIN)}" for name, text in self.options.items())
        return f"{head}?{tail}" if tail else head


def _encoded(argument: str) -> str:
    """An argument in which nothing can be taken for the start of options or for an encoded character."""
    equals = [] if "/" in argument else ["="]
    for character in ("%", "?", *equals):
        argument = argument.replace(character, quote(character))
    return argument


def _pairs(tail: str, whole: str) -> dict[str, str]:
    """The `name=value` pairs of an options part."""
    out: dict[str, str] = {}
    for part in tail.split("&") if tail else []:
        name, equals, value = part.partition("=")
        name = unquote(name)
        if not (name and equals and value):
            raise UserError(f"'{part}' in agent '{whole}' is not of the form name=value; join several options by '&'")
        if name in out:
            raise UserError(f"option {name} is given twice in agent '{whole}'; keep one of them")
        out[name] = unquote(value)
    return out
