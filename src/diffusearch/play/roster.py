"""Who can be played on the page: a fixed list of agents, each built once and shared by all games.

The page names an agent by its id and never by a text that could hold a path. Agents keep no game between two
requests (the game lives in the browser), so each thought starts from `new_game` and holds the agent's own lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.errors import UserError
from diffusearch.play.schemas import AgentCard


@dataclass(frozen=True)
class Level:
    """One setting of an agent's strength."""

    label: str
    text: str  # what `diffusearch.agents.build.agent` understands
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Offer:
    """One agent on offer."""

    id: str
    name: str
    about: str
    levels: tuple[Level, ...]  # weakest first
    default: int = -1  # index into the levels
    lines: int = 1  # candidates it must be asked for, where a plain decision names only one (engines)

    def level(self, number: int | None) -> Level:
        """The level that the page asked for; None is the default."""
        if number is None:
            return self.levels[self.default]
        if number >= len(self.levels):
            raise UserError(f"{self.name} has the levels 0 to {len(self.levels) - 1}, not {number}.")
        return self.levels[number]


class UnknownAgent(UserError):
    """The page asked for an agent that is not on the list."""


class Roster:
    """The offers, and the agents built from their levels."""

    def __init__(self, offers: Sequence[Offer], build: Callable[[str], Agent]) -> None:
        self._offers = {offer.id: offer for offer in offers}
        self._build = build
        self._agents: dict[str, Agent] = {}
        self._locks = {offer.id: threading.Lock() for offer in offers}

    def offer(self, agent_id: str) -> Offer:
        if agent_id not in self._offers:
            known = ", ".join(self._offers)
            raise UnknownAgent(f"There is no agent {agent_id!r}; choose one of {known}.")
        return self._offers[agent_id]

    def _agent(self, level: Level) -> Agent:
        """The level's agent, built at its first use. Call with the offer's lock held."""
        if level.text not in self._agents:
            self._agents[level.text] = self._build(level.text)
        return self._agents[level.text]

    def cards(self) -> list[AgentCard]:
        """All offers, each built once to see whether it can play here (weights there, engine installed)."""
        return [self._card(offer) for offer in self._offers.values()]

    def _card(self, offer: Offer) -> AgentCard:
        problem = None
        with self._locks[offer.id]:
            try:
                self._agent(offer.level(None))
            except UserError as error:
                problem = str(error)
        return AgentCard(
            id=offer.id,
            name=offer.name,
            about=offer.about,
            levels=[level.label for level in offer.levels],
            default=offer.levels.index(offer.level(None)),
            problem=problem,
        )

    def decide(self, agent_id: str, board: chess.Board, level: int | None) -> Decision:
        """One decision; waits for the agent if it is thinking for somebody else."""
        offer = self.offer(agent_id)
        chosen = offer.level(level)
        with self._locks[agent_id]:
            agent = self._agent(chosen)
            agent.new_game()
            if offer.lines > 1:
                return agent.analyse(board, chosen.limits, offer.lines)[0]
            return agent.play(board, chosen.limits)

    def close(self) -> None:
        for agent in self._agents.values():
            agent.close()
        self._agents.clear()
