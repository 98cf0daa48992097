"""Agents that denoise or decode a future: the first move comes with the future that was decoded together with it.

Diffusion in all its decodings, and the autoregressive and direct futures of the paper's comparison: what differs is
inside `imagine`. The number of denoising steps sets the time of a move; the time control sets Limits.steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import chess
import numpy as np

from diffusearch.agents.base import Agent, Candidate, Decision, Limits, LookAhead
from diffusearch.agents.chance import choose, number
from diffusearch.agents.drawing_moves import root_moves
from diffusearch.agents.policy import among
from diffusearch.agents.strength import FULL, Strength
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.evaluation import Allowed
from diffusearch.inference.imagination import Imagination
from diffusearch.search.evaluator import Evaluator
from diffusearch.tokens.layout import Layout


class Imaginer(Protocol):
    """A model that denoises futures (a run)."""

    @property
    def provenance(self) -> dict[str, Any]: ...

    def asked_layout(self, decoding: Decoding, horizon: int | None = None) -> Layout:
        """What is denoised: its horizon is how far the agent looks ahead."""
        ...

    def work(self, decoding: Decoding) -> int:
        """Evaluations of one position, at most, that a decision takes."""
        ...

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding | None = None,
        generator: np.random.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
        *,
        film: bool = False,
    ) -> list[Imagination]:
        """One imagination a board; `legal` lists the root moves that may be played on each (None = all)."""
        ...


class ImaginingAgent(Agent):
    """Plays the first move of what it denoises. `Limits.steps` replaces the number of denoising steps."""

    def __init__(
        self,
        net: Imaginer,
        decoding: Decoding = Decoding(),
        name: str = "diffusearch",
        strength: int = 100,
        seed: int = 0,
        *,
        horizon: int | None = None,
        film: bool = False,
        evaluator: Evaluator | None = None,
    ) -> None:
        """`evaluator` says at the root whether a draw is to be avoided."""
        self.name, self.evaluator = name, evaluator
        self.net = net
        self.strength = Strength(strength)
        self.decoding = replace(decoding, steps=self.strength.scaled(decoding.steps))
        self.seed, self.film = seed, film
        self._horizon = horizon

    @property
    def provenance(self) -> dict[str, Any]:
        return self.net.provenance

    @property
    def horizon(self) -> int:
        return self.net.asked_layout(self.decoding, self._horizon).horizon

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        return self.play_many([board], limits)[0]

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        start = time.perf_counter()
        moves = root_moves(boards, limits, self.evaluator)
        found = self._imagine(boards, moves.allowed, limits)
        shares = [_shares(one, own) for one, own in zip(found, moves, strict=True)]
        if self.strength.dial < FULL:
            found = self._weakened(boards, found, shares, limits)
        seconds = (time.perf_counter() - start) / max(1, len(boards))
        return [self._decision(*three, seconds) for three in zip(boards, found, shares, strict=True)]

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        """The move that it would play, then the next likeliest first moves, each with a future of its own."""
        start = time.perf_counter()
        moves = root_moves([board], limits, self.evaluator)
        (own,) = moves
        (first,) = self._imagine([board], moves.allowed, limits)
        shares = _shares(first, own)
        played = chess.Move.from_uci(first.move)
        others = sorted((move for move in own if move != played), key=lambda move: -shares[move])[: lines - 1]
        rest = self._imagine([board] * len(others), [[move] for move in others], limits) if others else []
        seconds = time.perf_counter() - start
        decisions = [self._decision(board, one, shares, seconds) for one in (first, *rest)]
        # Without drafts the value is the position's: it goes with the move that is played, not with the others.
        return decisions[:1] + [
            decision if one.drafts else replace(decision, value=None)
            for one, decision in zip(rest, decisions[1:], strict=True)
        ]

    @property
    def own_steps(self) -> int:
        return self.decoding.steps

    def work(self, steps: int) -> int:
        drawn = 2 if self.strength.dial < FULL else 1  # where another move is drawn, its future is denoised too
        return drawn * self.net.work(replace(self.decoding, steps=steps))

    def _imagine(self, boards: Sequence[chess.Board], legal: Allowed | None, limits: Limits) -> list[Imagination]:
        decoding = self.decoding if limits.steps is None else replace(self.decoding, steps=limits.steps)
        generator = np.random.default_rng(number(self.seed, boards))
        return self.net.imagine(boards, decoding, generator, legal, self._horizon, film=self.film)

    def _weakened(
        self,
        boards: Sequence[chess.Board],
        found: Sequence[Imagination],
        shares: Sequence[dict[chess.Move, float]],
        limits: Limits,
    ) -> list[Imagination]:
        """Moves sampled at the dial's temperature; where another move comes out, its future is denoised anew."""
        out = list(found)
        temperature = self.strength.temperature(0.0)
        drawn = [choose(own, temperature, self.seed, board) for own, board in zip(shares, boards, strict=True)]
        changed = [index for index, move in enumerate(drawn) if move.uci() != found[index].move]
        if changed:
            again = self._imagine([boards[index] for index in changed], [[drawn[index]] for index in changed], limits)
            for index, imagination in zip(changed, again, strict=True):
                steps, nodes = imagination.steps + found[index].steps, imagination.nodes + found[index].nodes
                # The probabilities are those of the first time, and so are the drafts that they come from.
                out[index] = replace(imagination, steps=steps, evaluations=nodes, drafts=found[index].drafts)
        return out

    def _decision(
        self, board: chess.Board, one: Imagination, shares: dict[chess.Move, float], seconds: float
    ) -> Decision:
        return Decision(
            move=chess.Move.from_uci(one.move),
            probabilities=shares,
            line=playable(board, one.moves),
            value=one.value,
            nodes=one.nodes,
            seconds=seconds,
            imagination=one,
            look_ahead=_drafted(one),
        )


def keep_film(agent: Agent) -> None:
    """Let an agent that denoises jointly record its steps; drafts and all other agents have none."""
    if isinstance(agent, ImaginingAgent):
        agent.film = not agent.decoding.drafts


def _drafted(one: Imagination) -> LookAhead | None:
    """The drafted moves as candidates, likeliest first; None where nothing was drafted."""
    if not one.drafts:
        return None
    ranked = sorted(one.drafts, key=lambda draft: -draft.after)
    return LookAhead(
        tuple(
            Candidate(
                chess.Move.from_uci(draft.move),
                draft.before,
                draft.value,
                draft.revised,
                tuple(chess.Move.from_uci(ply.move) for ply in draft.lines[0] if ply.move is not None),
                draft.after,
            )
            for draft in ranked
        ),
        "drafts",
    )


def _shares(one: Imagination, moves: Sequence[chess.Move]) -> dict[chess.Move, float]:
    """The imagination's probabilities of the candidates, likeliest first, made to sum to 1."""
    shares = among({move: one.probabilities.get(move.uci(), 0.0) for move in moves}, moves)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def playable(board: chess.Board, line: Sequence[str]) -> tuple[chess.Move, ...]:
    """An imagined line as far as it can be played on the true board: imagined states may drift from the rules."""
    real = board.copy(stack=False)
    out: list[chess.Move] = []
    for uci in line:
        move = chess.Move.from_uci(uci)
        if not real.is_legal(move):
            break
        real.push(move)
        out.append(move)
    return tuple(out)
