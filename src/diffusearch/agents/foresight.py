"""Foresight: several first moves, each with a future of its own, weighed by how those futures look.

The likeliest first moves are imagined side by side, turn by turn (diffusion/turns.py), up to the mover's next turn or
farther. How the model likes the imagined states that follow the move is its outcome. A move's score is
    log share + trust * mean log odds of winning in them
and the shares of these moves are shared out anew by it. There is no tree: one future a move, and its states are
imagined, not played. The rules speak where they do at the root (which moves are legal, which end the game), and say
whether an imagined state that ends a future is mate or stalemate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import chess
import numpy as np
import numpy.typing as npt
import torch

from diffusearch.agents.imagining import Imaginer
from diffusearch.agents.values import DOUBT, ends
from diffusearch.diffusion.decoding import Decoding, choose
from diffusearch.diffusion.imagination import Imagination
from diffusearch.diffusion.roots import Allowed
from diffusearch.errors import UserError
from diffusearch.search.nets import Policy

Floats = npt.NDArray[np.float64]
CANDIDATES = 4  # first moves whose futures are imagined
TRUST = 0.5
LOOK = 2  # imagined states that are judged: up to the mover's next turn


class Judge(Imaginer, Policy, Protocol):
    """A model that imagines states, and values them."""

    @property
    def imagines_states(self) -> bool: ...

    @property
    def knows_values(self) -> bool: ...


class Foresight:
    """Imagines like the model itself, but chooses the first move by what comes of it."""

    def __init__(self, net: Judge, candidates: int = CANDIDATES, trust: float = TRUST, look: int = LOOK) -> None:
        if not (net.knows_values and net.imagines_states):
            raise UserError(
                f"candidates = {candidates} needs a model that imagines states (s-asa, horizon 2 or more) and values "
                "them (root_value = true): write candidates=1, or train such a model"
            )
        self.net, self.candidates, self.trust, self.look = net, candidates, trust, look
        self.calls = 1 + 2 * look + 1  # of the network before the move is chosen: a glance, and the futures

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        """One imagination a board: that of the move with the best score."""
        rest = decoding.steps - self.calls  # for the line that is shown
        if rest < 1:  # too few steps to look ahead: the move at a glance
            return self.net.imagine(boards, decoding, generator, legal, horizon)
        priors = self.net.priors(boards)
        if legal is not None:
            priors = [{move: shares[move] for move in own} for shares, own in zip(priors, legal, strict=True)]
        tried = [sorted(shares, key=shares.__getitem__, reverse=True)[: self.candidates] for shares in priors]
        asked = [(index, move) for index, own in enumerate(tried) for move in own]
        far = Decoding(order="turns", steps=2 * self.look + 1)  # here the futures are what it is about
        roots = [boards[index] for index, _ in asked]
        futures = self.net.imagine(roots, far, generator, [[move] for _, move in asked], self.look + 1)
        odds = np.array([outcome(*pair) for pair in zip(roots, futures, strict=True)])
        found, start = [], 0
        for shares, own in zip(priors, tried, strict=True):
            found.append(self._weigh(shares, own, odds[start : start + len(own)]))
            start += len(own)
        chosen = [[draw(own, decoding.temperature, generator)] for own in found]
        best = self.net.imagine(boards, replace(decoding, steps=rest), generator, chosen, horizon)
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
        return replace(one, probabilities=probabilities, steps=one.steps + self.calls)


def imaginer(
    net: Judge, decoding: Decoding, candidates: int | None = None, trust: float = TRUST, look: int = LOOK
) -> Imaginer:
    """Who imagines: the model alone (candidates = 1), or with foresight.

    None is the best that model and decoding allow. Other orders than "turns" are the paper's affair, and several
    imaginations of one move choose by their joint probability: both play the move that they denoise.
    """
    able = decoding.order == "turns" and decoding.imaginations == 1 and net.knows_values
    candidates = candidates or (CANDIDATES if able else 1)
    return Foresight(net, candidates, trust, look) if candidates > 1 else net


def outcome(board: chess.Board, future: Imagination) -> float:
    """The mover's log odds of winning in a future: the mean over its imagined states.

    A first move that ends the game is judged by the rules alone, and so is a future whose last imagined state leaves
    no move. Where no state was imagined, the root's own value stands: such a move is neither better nor worse for it.
    """
    end = ends(board, chess.Move.from_uci(future.move))
    if end is not None:
        return _log_odds(end)
    last = future.line[-1].state
    if last is not None and not any((state := chess.Board(last)).legal_moves):
        mated = 0.0 if state.turn == board.turn else 1.0
        return _log_odds(mated if state.is_check() else 0.5)
    values = [ply.value if index % 2 == 0 else _other(ply.value) for index, ply in enumerate(future.line)]
    seen = [_log_odds(value) for value in values[1:] or values if value is not None]
    return float(np.mean(seen)) if seen else 0.0


def _other(value: float | None) -> float | None:
    """The opponent's win probability."""
    return None if value is None else 1.0 - value


def draw(shares: dict[chess.Move, float], temperature: float, generator: torch.Generator | None) -> chess.Move:
    """The likeliest move, or at a temperature one of them by lot."""
    if temperature == 0.0:
        return max(shares, key=shares.__getitem__)
    logits = torch.tensor(list(shares.values()), dtype=torch.float64).clamp(min=1e-300).log()
    return list(shares)[int(choose(logits, temperature, generator or torch.Generator().manual_seed(0)))]


def _log_odds(probability: float) -> float:
    clipped = min(max(probability, DOUBT), 1.0 - DOUBT)
    return float(np.log(clipped / (1.0 - clipped)))
