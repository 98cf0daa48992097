"""Who can be played on the page: a fixed list of opponents, whose agents are built once and shared by all games.

The page names an opponent by an id from this list: no other text is ever built. Agents keep no game between two
requests (the game lives in the browser), so each decision starts from `new_game` and holds the agent's own lock.
`diffusearch play --agent TEXT` adds opponents before the packaged ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Literal

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.spec import DEFAULT_AGENT, AgentSpec
from diffusearch.errors import UserError
from diffusearch.play.rating_scale import Measured, ratings
from diffusearch.play.schemas import AgentCard, LevelCard, Rating

State = Literal["loading", "ready", "problem"]


@dataclass(frozen=True)
class Level:
    """One setting of an opponent's strength."""

    label: str
    text: str  # the agent's text, see `diffusearch.agents.build`
    limits: Limits = field(default_factory=Limits)
    rated_as: str | None = None  # the text whose measured rating it has, where that is not its own

    @property
    def rating(self) -> Measured | None:
        """Measured for an agent with its own limits; None until it is measured."""
        if self.rated_as is None and self.limits != Limits():
            return None
        return ratings().get(self.rated_as or self.text)


@dataclass(frozen=True)
class Opponent:
    """One entry of the list."""

    id: str
    name: str
    about: str
    levels: tuple[Level, ...]  # weakest first, as far as it is measured
    default: int = -1  # index into the levels
    lines: int = 1  # lines to ask for, where a plain decision names only one candidate (engines)

    def level(self, number: int | None) -> Level:
        """The level that the page asked for; None is the default."""
        if number is None:
            return self.levels[self.default]
        if number >= len(self.levels):
            raise UserError(f"{self.name} has the levels 0 to {len(self.levels) - 1}, not {number}.")
        return self.levels[number]


def _strengths(spec: AgentSpec) -> tuple[Level, ...]:
    """Settings of the strength option below 100, where moves are drawn at random in part.

    A label says so where no games tell the strength: its place among the other levels is then a guess.
    """
    levels = []
    for dial in (20, 40, 60, 80):
        rated_as = f"{spec.word}?strength={dial}"
        label = f"strength {dial}" if rated_as in ratings() else f"strength {dial}, not measured"
        levels.append(Level(label, str(spec.with_options(strength=str(dial))), rated_as=rated_as))
    return tuple(levels)


_DENOISED = AgentSpec("diffusearch").with_options(film="on")  # keeps every denoising step, which the page replays
_ONE_LOOK = "diffusearch?steps=1"  # the move of the network's policy, by whatever agent

PACKAGED: tuple[Opponent, ...] = (
    Opponent(
        DEFAULT_AGENT,
        "Search",
        "Searches a small tree of positions that the network predicts. The network's best measured rating.",
        (
            *_strengths(AgentSpec(DEFAULT_AGENT))[:2],
            Level("one look", DEFAULT_AGENT, Limits(steps=1), _ONE_LOOK),
            *_strengths(AgentSpec(DEFAULT_AGENT))[2:],
            Level("full", DEFAULT_AGENT),
        ),
    ),
    Opponent(
        "diffusearch",
        "DiffuSearch",
        "Drafts futures of its likeliest moves, reads them and denoises its move again.",
        (
            *_strengths(AgentSpec("diffusearch")),
            Level("one look", "diffusearch", Limits(steps=1), _ONE_LOOK),
            Level("full", "diffusearch"),
        ),
    ),
    Opponent(
        "denoising",
        "Joint denoising",
        "Denoises its move together with the future, by discrete diffusion, and shows every step.",
        (
            Level("ply by ply", str(_DENOISED.with_options(order="plies"))),
            Level("the paper's order", str(_DENOISED.with_options(order="confidence"))),
        ),
        default=0,
    ),
    Opponent(
        "s-a",
        "Policy (s-a)",
        "A policy network: one evaluation, no future.",
        (*_strengths(AgentSpec("s-a"))[:3], Level("full", "s-a")),  # strength 80 is measured as strong as full
    ),
    Opponent(
        "mcts",
        "Tree search (MCTS)",
        "Monte Carlo tree search with a policy and a value network.",
        tuple(Level(f"{count} simulations", f"mcts?simulations={count}") for count in (10, 30, 100, 300)),
        default=2,
    ),
    Opponent(
        "stockfish",
        "Stockfish",
        "The engine that labelled the training data.",
        tuple(
            Level("1 node" if count == 1 else f"{count:,} nodes", "stockfish", Limits(nodes=count))
            for count in (1, 30, 300, 3000, 30_000, 300_000)
        ),
        default=3,
        lines=4,
    ),
    Opponent(
        "greedy-material",
        "Greedy",
        "Takes the most material it can, one move deep.",
        (Level("full", "greedy-material"),),
    ),
    Opponent("random", "Random", "Any legal move.", (Level("full", "random"),)),
)


def name_of(text: str) -> str:
    """The page's name of an agent; its text where it is not one of the packaged opponents."""
    return next((one.name for one in PACKAGED if one.id == text), text)


def opponents(texts: Sequence[str]) -> tuple[Opponent, ...]:
    """The user's own agents, named by their texts, then the packaged ones."""
    return tuple(_own(text) for text in texts) + PACKAGED


def _own(text: str) -> Opponent:
    from diffusearch.agents.build import KINDS

    spec = AgentSpec.parse(text)
    known = {option.name for option in KINDS[spec.word].options} if spec.word in KINDS else set()
    filmed = spec.with_options(film="on") if "film" in known and "film" not in spec.options else spec
    # The id has a word before the text, for `diffusearch` alone is the id of a packaged opponent.
    return Opponent(f"own:{text}", text, "Your own agent.", (Level("as given", str(filmed)),))


def _rating(level: Level) -> Rating | None:
    return None if level.rating is None else Rating(**asdict(level.rating))


class UnknownAgent(UserError):
    """The page asked for an opponent that is not on the list."""


class _Shared:
    """The agent of a text, None until its first use; whoever uses it holds the lock."""

    def __init__(self) -> None:
        self.agent: Agent | None = None
        self.lock = threading.Lock()


class Opponents:
    """The list, and the agents built from its levels. Levels with the same text share an agent."""

    def __init__(self, listed: Sequence[Opponent], build: Callable[[str], Agent]) -> None:
        self._listed = {one.id: one for one in listed}
        self._build = build
        self._agents = {level.text: _Shared() for one in listed for level in one.levels}
        self._states: dict[str, tuple[State, str | None]] = {one.id: ("loading", None) for one in listed}
        self._loader: threading.Thread | None = None
        self._closed = False

    def find(self, agent_id: str) -> Opponent:
        if agent_id not in self._listed:
            known = ", ".join(self._listed)
            raise UnknownAgent(f"There is no agent {agent_id[:40]!r}; choose one of {known}.")
        return self._listed[agent_id]

    def load(self) -> None:
        """Build every opponent's default level in the background, in the order of the list; returns at once."""
        if self._loader is None:
            self._loader = threading.Thread(target=self._load_all, name="load", daemon=True)
            self._loader.start()

    @property
    def loading(self) -> bool:
        """Whether the background still builds an opponent, which cannot be interrupted."""
        return self._loader is not None and self._loader.is_alive()

    def _load_all(self) -> None:
        for one in self._listed.values():
            if self._closed:
                return
            try:
                with self._agent(one.level(None)):
                    self._states[one.id] = "ready", None
            except Exception as error:  # whatever stops one opponent must not stop the others
                sentence = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
                self._states[one.id] = "problem", " ".join(sentence.split())

    @contextmanager
    def _agent(self, level: Level) -> Iterator[Agent]:
        """The level's agent, built at its first use, for one thread alone."""
        shared = self._agents[level.text]
        with shared.lock:
            if shared.agent is None:
                shared.agent = self._build(level.text)
            yield shared.agent

    def cards(self) -> list[AgentCard]:
        """The list as it is now: which opponents are ready, which are being loaded, which cannot play here."""
        self.load()
        return [self._card(one) for one in self._listed.values()]

    def _card(self, one: Opponent) -> AgentCard:
        state, problem = self._states[one.id]
        return AgentCard(
            id=one.id,
            name=one.name,
            about=one.about,
            levels=[LevelCard(label=level.label, rating=_rating(level)) for level in one.levels],
            default=one.levels.index(one.level(None)),
            state=state,
            problem=problem,
        )

    def decide(self, agent_id: str, board: chess.Board, level: int | None) -> Decision:
        """One decision; waits for the agent while it is loaded or busy with another request."""
        one = self.find(agent_id)
        chosen = one.level(level)
        with self._agent(chosen) as agent:
            agent.new_game()
            if one.lines > 1:
                return agent.analyse(board, chosen.limits, one.lines)[0]
            return agent.play(board, chosen.limits)

    def decide_many(self, agent_id: str, boards: Sequence[chess.Board], level: int | None) -> list[Decision]:
        """Decisions in unrelated positions."""
        chosen = self.find(agent_id).level(level)
        with self._agent(chosen) as agent:
            agent.new_game()
            return agent.play_many(boards, chosen.limits)

    def close(self) -> None:
        self._closed = True
        for shared in self._agents.values():
            if shared.agent is not None:
                shared.agent.close()
                shared.agent = None
