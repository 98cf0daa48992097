"""The engine's options: one table that is printed after `uci`, checked on `setoption`, and turned into an agent.

UCI knows no fractions, so Temperature is in hundredths; an empty text is written `<empty>`.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError

EMPTY = "<empty>"

Value = str | int | bool


@dataclass(frozen=True)
class Option:
    """One line of the table; a spin has bounds, a combo has words."""

    name: str
    default: Value
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()

    def declared(self) -> str:
        """The `option` line as the GUI reads it."""
        head = f"option name {self.name} type"
        if isinstance(self.default, bool):
            return f"{head} check default {str(self.default).lower()}"
        if isinstance(self.default, int):
            return f"{head} spin default {self.default} min {self.low} max {self.high}"
        if self.words:
            return f"{head} combo default {self.default}" + "".join(f" var {word}" for word in self.words)
        return f"{head} string default {self.default or EMPTY}"

    def parse(self, text: str) -> Value:
        """The value that a GUI sent, or a UserError that says what is allowed."""
        if isinstance(self.default, bool):
            if text.lower() not in ("true", "false"):
                raise UserError(f"Option {self.name} is {text!r}, but only true or false can be set.")
            return text.lower() == "true"
        if isinstance(self.default, int):
            if not re.fullmatch(r"[+-]?[0-9]{1,11}", text):
                raise UserError(f"Option {self.name} is {text[:40]!r}, but it takes a whole number.")
            if not self.low <= int(text) <= self.high:
                raise UserError(f"Option {self.name} is {text}, but it must lie in {self.low} to {self.high}.")
            return int(text)
        if self.words:
            for word in self.words:
                if word.lower() == text.lower():
                    return word
            raise UserError(f"Option {self.name} is {text[:40]!r}, but it is one of: {', '.join(self.words)}.")
        return "" if text == EMPTY else text


TABLE = (
    Option("Agent", "diffusearch"),  # any player's text, e.g. `s-a` or `mcts`
    Option("Weights", ""),  # a run folder; empty = the weights inside the package
    Option("Steps", 20, 1, 200),  # denoising steps at most; the clock may take fewer
    Option("Imaginations", 1, 1, 64),  # futures imagined side by side, the likeliest is played
    Option("Order", "auto", words=("auto", *ORDERS)),  # which places are fixed first; auto = what suits the weights
    Option("Temperature", 0, 0, 500),  # hundredths: 100 = sample as the model says, 0 = always the likeliest
    Option("Strength", 100, 0, 100),  # below 100 it thinks less and chooses more freely; no rating
    Option("Seed", 0, 0, 2**31 - 1),  # of free choices; 0 = another one in every game
    Option("MultiPV", 1, 1, 64),
    Option("Threads", 1, 1, 256),
    Option("Move Overhead", 50, 0, 5000),  # milliseconds
    Option("Ponder", False),  # tells the GUI that pondering is understood; nothing to switch here
    Option("UCI_ShowWDL", False),
)


class Options:
    """The values in force, by name; a name is known in any case of its letters."""

    def __init__(self, **values: Value) -> None:
        """Values by name with `_` for a space, e.g. `Move_Overhead=100`; they are also declared as the defaults."""
        self._by_name = {option.name.lower(): option for option in TABLE}
        self._values: dict[str, Value] = {option.name: option.default for option in TABLE}
        self.new_game()
        for key, value in values.items():
            name = self.set(key if key.startswith("UCI_") else key.replace("_", " "), str(value))
            self._by_name[name.lower()] = replace(self._by_name[name.lower()], default=self._values[name])

    def new_game(self) -> None:
        """Draw the seed that stands for Seed 0, so that a second game is not the first one again."""
        self._seed = random.SystemRandom().randrange(1, 2**31)

    def set(self, name: str, text: str) -> str:
        """Take one value from its text; gives back the option's own spelling."""
        option = self._by_name.get(name.lower())
        if option is None:
            raise UserError(f"No such option: {name[:60]!r}; `uci` lists all options.")
        self._values[option.name] = option.parse(text)
        return option.name

    def number(self, name: str) -> int:
        return int(self._values[name])

    def text(self, name: str) -> str:
        return str(self._values[name])

    def on(self, name: str) -> bool:
        return self._values[name] is True

    def declared(self) -> list[str]:
        return [option.declared() for option in self._by_name.values()]

    def agent_text(self) -> str:
        """The agent these options describe, in the words of `diffusearch.agents.build`.

        Each agent gets those options that it understands; what the Agent text says itself (`diffusearch?k=5`) is left
        as it is. Steps are not among them: they go with each move, as a limit.
        """
        from diffusearch.agents.build import KINDS

        agent, weights = self.text("Agent").strip() or "diffusearch", self.text("Weights").strip()
        head, mark, query = agent.partition("?")
        if weights:
            if ":" in head:
                raise UserError(f"Agent {agent!r} names its weights already; clear Weights or shorten Agent.")
            head = f"{head}:{weights}"
        given = {part.partition("=")[0] for text in (query, head.partition(":")[2]) for part in text.split("&")}
        ours = {
            "k": str(self.number("Imaginations")),
            **({} if self.text("Order") == "auto" else {"order": self.text("Order")}),
            "temperature": f"{self.number('Temperature') / 100:g}",
            "strength": str(self.number("Strength")),
            "seed": str(self.number("Seed") or self._seed),
        }
        player = KINDS.get(head.partition(":")[0])
        understood = {option.name for option in player.options} if player else set()
        parts = [query] if query else []
        parts += [f"{key}={value}" for key, value in ours.items() if key in understood and key not in given]
        return head + ("?" + "&".join(parts) if parts else mark)
