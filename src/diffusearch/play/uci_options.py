"""The engine's options: one table that is printed after `uci`, checked on `setoption`, and turned into an agent.

UCI knows no fractions, so Temperature is in hundredths; an empty text is written `<empty>`. UCI_Elo is turned into a
Strength by the measured scale (`rating_scale.py`), which holds for agents with their own budgets and packaged weights.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from diffusearch.agents.spec import DEFAULT_AGENT, AgentSpec
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError
from diffusearch.inference.backend_names import BACKENDS
from diffusearch.play.rating_scale import dial_ratings, elo_range, strength_of

EMPTY = "<empty>"

Value = str | int | bool


@dataclass(frozen=True)
class UciOption:
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


_WEAKEST, _STRONGEST = elo_range(DEFAULT_AGENT)

TABLE = (
    UciOption("Agent", DEFAULT_AGENT),  # any agent's text, e.g. `s-a` or `mcts`
    UciOption("Weights", ""),  # a run folder; empty = the weights inside the package
    UciOption("Steps", 0, 0, 1000),  # network calls at most, 0 = as the agent's run says; the clock may allow fewer
    UciOption("Imaginations", 0, 0, 64),  # samples denoised in one batch, the likeliest is played; 0 = as the run says
    UciOption("Order", "auto", words=("auto", *ORDERS)),  # which places are fixed first; auto = as the run says
    UciOption("Temperature", 0, 0, 500),  # hundredths: 100 = sample from the model's distribution, 0 = as the run says
    UciOption("Strength", 100, 0, 100),  # below 100 fewer steps and random choice; not a rating
    UciOption("UCI_LimitStrength", False),  # whether UCI_Elo holds instead of Strength
    UciOption("UCI_Elo", _STRONGEST, _WEAKEST, _STRONGEST),  # a measured rating of the default agent
    UciOption("Seed", 0, 0, 2**31 - 1),  # of random choices; 0 = another one in every game
    UciOption("MultiPV", 1, 1, 64),
    UciOption("Backend", "auto", words=BACKENDS),  # who computes the network; auto = onnx with graphs
    UciOption("Threads", 1, 1, 256),
    UciOption("Move Overhead", 50, 0, 5000),  # milliseconds
    UciOption("Ponder", False),  # tells the GUI that `go ponder` is understood; changes nothing here
    UciOption("UCI_ShowWDL", False),
)


class UciOptions:
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
        if name.lower() == "uci_chess960" and text.lower() != "false":
            raise UserError("Option UCI_Chess960 is refused: only standard chess is played, castling from e1 and e8.")
        option = self._by_name.get(name.lower())
        if option is None:
            if name.lower() == "uci_chess960":  # false, as always
                return "UCI_Chess960"
            raise UserError(f"No such option: {name[:60]!r}; `uci` lists all options.")
        self._values[option.name] = option.parse(text)
        return option.name

    def number(self, name: str) -> int:
        return int(self._values[name])

    def text(self, name: str) -> str:
        return str(self._values[name])

    def on(self, name: str) -> bool:
        return self._values[name] is True

    @property
    def strength(self) -> int:
        """From 0 to 100: Strength, or what has the UCI_Elo where that holds and is measured."""
        if self.on("UCI_LimitStrength") and not self.notice:
            return strength_of(self.spec().word, self.number("UCI_Elo"))
        return self.number("Strength")

    @property
    def notice(self) -> str:
        """Why UCI_Elo does not hold although it is asked for; else empty."""
        if not self.on("UCI_LimitStrength"):
            return ""
        spec = self.spec()
        if spec.argument is None and not set(spec.options) - {"seed"} and dial_ratings(spec.word):
            return ""
        return (
            f"UCI_Elo is measured for packaged agents with their own settings, not for {str(spec)!r}: Strength holds."
        )

    def declared(self) -> list[str]:
        return [option.declared() for option in self._by_name.values()]

    def spec(self) -> AgentSpec:
        """The agent with its weights, before the other options."""
        spec, weights = AgentSpec.parse(self.text("Agent").strip() or DEFAULT_AGENT), self.text("Weights").strip()
        return spec.with_run(weights) if weights else spec

    def agent_text(self) -> str:
        """The text of the agent that these options describe.

        Each agent gets those options that it understands; what the Agent text says itself (`diffusearch?k=5`) is left
        as it is. Steps are not among them: they go with each move, as a limit.
        """
        from diffusearch.agents.build import KINDS

        spec, strength = self.spec(), self.strength
        ours = {
            "k": str(self.number("Imaginations") or ""),
            "order": "" if self.text("Order") == "auto" else self.text("Order"),
            "temperature": f"{self.number('Temperature') / 100:g}" if self.number("Temperature") else "",
            "backend": "" if self.text("Backend") == "auto" else self.text("Backend"),
            "strength": "" if strength == 100 else str(strength),
            "seed": str(self.number("Seed") or self._seed),
        }  # empty = as the agent itself says
        player = KINDS.get(spec.word)
        understood = {option.name for option in player.options} if player else set()
        added = {name: text for name, text in ours.items() if text and name in understood and name not in spec.options}
        return str(spec.with_options(**added))
