"""Foresight: several first moves, each with a future of its own, weighed by how those futures look.

The likeliest first moves are denoised side by side. Where a future has come to the mover's next turn (s_2), the same
network is asked how it likes that imagined state, as if it were a root. A move's score is
    log share + trust * log odds of winning there
and the shares of these moves are shared out anew by it. There is no tree: one future a move, and its states are
imagined, not played. The rules speak only where they do at the root: which moves are legal, and which end the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import chess
import numpy as np
import numpy.typing as npt
import torch

from diffusearch.agents.imagining import Allowed, Imaginer
from diffusearch.agents.values import DOUBT, ends
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Imagination
from diffusearch.errors import UserError
from diffusearch.search.nets import Policy, Value

Floats = npt.NDArray[np.float64]
LOOK = 2  # plies to the state that is judged: the mover's next turn


class Judge(Imaginer, Policy, Value, Protocol):
    """A model that imagines, and that values states."""

    @property
    def horizon(self) -> int: ...

    @property
    def knows_values(self) -> bool: ...


class Foresight:
    """Imagines like the model itself, but chooses the first move by what comes of it."""

    def __init__(self, net: Judge, candidates: int = 8, trust: float = 0.5) -> None:
        if not net.knows_values or net.horizon <= LOOK:
            raise UserError(
                f"candidates = {candidates} needs a model that values states (root_value = true) and imagines at least "
                f"{LOOK + 1} plies (horizon = {net.horizon}): leave candidates out, or train such a model"
            )
        self.net, self.candidates, self.trust = net, candidates, trust

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        """One imagination a board: that of the move with the best score."""
        priors = self.net.priors(boards)
        if legal is not None:
            priors = [{move: shares[move] for move in own} for shares, own in zip(priors, legal, strict=True)]
        tried = [sorted(shares, key=shares.__getitem__, reverse=True)[: self.candidates] for shares in priors]
        asked = [(index, move) for index, own in enumerate(tried) for move in own]
        far = replace(decoding, line=True, film=False)  # here the futures are what it is about
        roots = [boards[index] for index, _ in asked]
        values = self._judge(roots, self.net.imagine(roots, far, generator, [[move] for _, move in asked], LOOK + 1))
        odds = np.log(values / (1.0 - values))
        found, start = [], 0
        for shares, own in zip(priors, tried, strict=True):
            found.append(self._weigh(shares, own, odds[start : start + len(own)]))
            start += len(own)
        chosen = [[max(own, key=own.__getitem__)] for own in found]
        best = self.net.imagine(boards, decoding, generator, chosen, horizon)
        return [self._told(board, one, own) for board, one, own in zip(boards, best, found, strict=True)]

    def _weigh(
        self, shares: dict[chess.Move, float], tried: Sequence[chess.Move], odds: Floats
    ) -> dict[chess.Move, float]:
        """The shares of all moves, those of the moves tried shared out anew by their scores."""
        mass = np.array([shares[move] for move in tried])
        scores = np.log(np.maximum(mass, 1e-12)) + self.trust * odds
        weights = np.exp(scores - scores.max())
        anew = (weights / weights.sum() * mass.sum()).tolist()
        return shares | dict(zip(tried, anew, strict=True))

    def _told(self, board: chess.Board, one: Imagination, shares: dict[chess.Move, float]) -> Imagination:
        total = sum(shares.values())
        probabilities = {move.uci(): shares.get(move, 0.0) / total for move in board.legal_moves}
        steps = one.steps + 2 * LOOK + 3  # the glance, the candidates' a_0 .. a_2, and the judgement
        return replace(one, probabilities=probabilities, steps=steps)

    def _judge(self, boards: Sequence[chess.Board], futures: Sequence[Imagination]) -> Floats:
        """The mover's win probability after each future's first move [n], as far as it can be foreseen.

        A move that ends the game is judged by the rules. Where no valid state was imagined, the root's own value
        stands: such a move is neither better nor worse for it.
        """
        values = np.empty(len(futures))
        seen: list[int] = []
        states: list[chess.Board] = []
        for index, (board, future) in enumerate(zip(boards, futures, strict=True)):
            end = ends(board, chess.Move.from_uci(future.move))
            state = future.line[LOOK - 1].state if len(future.line) >= LOOK else None
            values[index] = next(value for value in (end, future.value, 0.5) if value is not None)
            if end is None and state is not None:
                seen.append(index)
                states.append(chess.Board(state))
        if seen:
            values[seen] = self.net.values(states)
        return np.clip(values, DOUBT, 1.0 - DOUBT)
