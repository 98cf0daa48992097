"""Foresight: the first move is chosen by what is imagined behind it, judged as players would.

The likeliest moves of each turn are followed into a fan of imagined futures (fan.py), and each first move gets a score
from its share and from what comes of it (judging.py). The shares of the first moves that were followed are shared out
anew by it. The line that is shown is that of the fan, in which both players go by the same score (principal.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
import torch

from diffusearch.agents.fan import Fan, Foreseer, State, evaluations, grow, rounds
from diffusearch.agents.judging import judgement, scores
from diffusearch.agents.principal import Line, follow, further
from diffusearch.diffusion.decoding import Decoding, choose
from diffusearch.diffusion.imagination import Imagination
from diffusearch.diffusion.roots import Allowed
from diffusearch.diffusion.turns import film_of
from diffusearch.errors import UserError

FAN: Fan = (4, 2, 2, 1)
TRUST = 3.0


class Foresight:
    """Imagines like the model itself, but chooses the first move by what comes of it."""

    def __init__(self, net: Foreseer, fan: Fan | None = None, trust: float | None = None) -> None:
        self.net, self.fan, self.trust = net, fan or FAN, TRUST if trust is None else trust
        if not net.foresees:
            raise UserError(
                f"fan={_text(self.fan)} needs a model that imagines states (s-asa, absorbing diffusion, "
                "horizon 2 or more) and values them (root_value = true): write fan=1, or train such a model"
            )

    def within(self, steps: int) -> Fan:
        """The fan as deep as so many steps (network calls) reach."""
        depths = range(len(self.fan), 0, -1)
        return next((self.fan[:depth] for depth in depths if rounds(self.fan[:depth]) <= steps), ())

    def work(self, steps: int) -> int:
        """Network evaluations of a decision of so many steps: the fan's, and of the line that goes on behind it."""
        fan = self.within(steps)
        onward = max(0, 2 * (self.net.horizon - len(fan)) - 1)  # a ply is a move and a state, the last one a move
        return evaluations(fan) + min(steps - rounds(fan), onward) if fan else steps

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        """One imagination a board: that of the move with the best score.

        Without the steps for a first ply of the fan, or without a choice, it is the model's own.
        """
        fan = self.within(decoding.steps)
        if not fan or (legal is not None and all(len(own) == 1 for own in legal)):
            return self.net.imagine(boards, decoding, generator, legal, horizon)
        roots = grow(self.net, boards, legal, fan)
        found = [self.weigh(root) for root in roots]
        chosen = [draw(own, decoding.temperature, generator) for own in found]
        plies = (horizon or self.net.horizon) if decoding.line else 1
        rest = decoding.steps - rounds(fan)
        told = [follow(root, move, self.trust, plies) for root, move in zip(roots, chosen, strict=True)]
        if rest:
            told = further(self.net, told, replace(decoding, steps=rest), generator, plies)
        film = plies if decoding.film else 0
        return [_told(*four, film, rounds(fan)) for four in zip(roots, found, chosen, told, strict=True)]

    def weigh(self, root: State) -> dict[chess.Move, float]:
        """The shares of all moves, those of the moves that were followed shared out anew by their scores."""
        score = scores(root, self.trust)
        weights, mass = np.exp(score - score.max()), np.sum([root.shares[move] for move in root.futures])
        anew = (weights / weights.sum() * mass).tolist()
        return root.shares | dict(zip(root.futures, anew, strict=True))


def foresight(
    net: Foreseer, decoding: Decoding, fan: Fan | None = None, trust: float | None = None
) -> Foresight | None:
    """Foresight, or None where the model plays what it denoises: with one first move there is nothing to choose.

    A fan of None is the best that model and decoding allow. Other orders than "turns" are the paper's affair, and
    several imaginations of one move choose by their joint probability.
    """
    allowed = decoding.order == "turns" and decoding.imaginations == 1 and net.foresees
    used = allowed if fan is None else fan[0] > 1
    if fan is not None and fan[0] == 1 < len(fan):
        raise UserError(f"fan={_text(fan)} follows one first move, so there is nothing to choose: write fan=1")
    if used and decoding.order != "turns":
        raise UserError(f"order={decoding.order} has no meaning for a fan of futures: leave it out, or write fan=1")
    if fan is not None and used and decoding.imaginations > 1:
        k = decoding.imaginations
        raise UserError(f"fan={_text(fan)} and k={k} are two ways to choose among futures: leave one of them out")
    if trust is not None and not used:
        raise UserError(
            f"trust={trust:g} weighs the futures of a fan, and no fan is used here: leave trust out, or write "
            f"fan={_text(FAN)} (without k)"
        )
    return Foresight(net, fan, trust) if used else None


def _text(fan: Fan) -> str:
    return "x".join(map(str, fan))


def _told(
    root: State, shares: dict[chess.Move, float], move: chess.Move, line: Line, film: int, calls: int
) -> Imagination:
    """The line of the chosen move, with the shares and the cost of the choice, and the root's judgement.

    `film` is the number of its plies, 0 for none.
    """
    assert root.seen is not None
    total = sum(shares.values())
    return Imagination(
        root=root.board.fen(),
        move=move.uci(),
        probabilities={own.uci(): shares.get(own, 0.0) / total for own in root.board.legal_moves},
        line=line.plies,
        film=film_of(line.plies, film) if film else (),
        log_probability=line.log_probability,
        value=float(1.0 / (1.0 + np.exp(-judgement(root, root)))),
        legal_mass=root.seen.legal_mass,
        raw_legal=root.seen.raw_legal,
        steps=calls + line.calls,
        evaluations=root.evaluations + line.calls,
    )


def draw(shares: dict[chess.Move, float], temperature: float, generator: torch.Generator | None) -> chess.Move:
    """The likeliest move, or at a temperature one of them by lot."""
    if temperature == 0.0:
        return max(shares, key=shares.__getitem__)
    logits = torch.tensor(list(shares.values()), dtype=torch.float64).clamp(min=1e-300).log()
    return list(shares)[int(choose(logits, temperature, generator or torch.Generator().manual_seed(0)))]
