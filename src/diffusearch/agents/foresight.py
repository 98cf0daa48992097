"""Foresight: the first move is chosen by what is imagined behind it, judged as players would.

The likeliest moves of each turn are followed into a fan of imagined futures (fan.py). In log odds of the mover:
- where the opponent is to move, the future that is worst for the mover counts;
- where the mover is, the mean of how that state looks and its best future: a best move that is only imagined is
  trusted half;
- the last states of the fan count as they look, and ends of the game by the rules.
A first move's score is
    log share + trust * judgement of the state behind it
and the shares of the first moves that were followed are shared out anew by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
import torch

from diffusearch.agents.fan import Fan, Foreseer, State, evaluations, grow, rounds
from diffusearch.diffusion.decoding import Decoding, choose
from diffusearch.diffusion.imagination import Imagination
from diffusearch.diffusion.roots import Allowed
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
        """The fan as deep as so many steps (network calls) reach; one at least is left for the line that is shown."""
        depths = range(len(self.fan), 0, -1)
        return next((self.fan[:depth] for depth in depths if rounds(self.fan[:depth]) < steps), ())

    def work(self, steps: int) -> int:
        """Network evaluations of a decision of so many steps."""
        fan = self.within(steps)
        return evaluations(fan) + steps - rounds(fan) if fan else steps

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
        chosen = [[draw(own, decoding.temperature, generator)] for own in found]
        rest = replace(decoding, steps=decoding.steps - rounds(fan))
        best = self.net.imagine(boards, rest, generator, chosen, horizon)
        return [_told(*three, rounds(fan)) for three in zip(best, roots, found, strict=True)]

    def weigh(self, root: State) -> dict[chess.Move, float]:
        """The shares of all moves, those of the moves that were followed shared out anew by their scores."""
        mass = np.array([root.shares[move] for move in root.futures])
        odds = np.array([judgement(root, future) for future in root.futures.values()])
        scores = np.log(np.maximum(mass, 1e-12)) + self.trust * odds
        weights = np.exp(scores - scores.max())
        anew = (weights / weights.sum() * mass.sum()).tolist()
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


def judgement(before: State, state: State | None) -> float:
    """The mover's log odds of winning behind a move.

    Where no valid state was imagined the value before the move stands: it is neither better nor worse for it.
    """
    if state is None:
        return before.odds
    if not state.futures:
        return state.odds
    scores = [judgement(state, future) for future in state.futures.values()]
    return (state.odds + max(scores)) / 2 if state.board.turn == state.mover else min(scores)


def _told(one: Imagination, root: State, shares: dict[chess.Move, float], calls: int) -> Imagination:
    """The imagined line of the chosen move, with the shares and the cost of the choice, and the root's judgement."""
    total = sum(shares.values())
    probabilities = {move.uci(): shares.get(move, 0.0) / total for move in root.board.legal_moves}
    seen, value = root.evaluations + one.nodes, float(1.0 / (1.0 + np.exp(-judgement(root, root))))
    return replace(one, probabilities=probabilities, value=value, steps=one.steps + calls, evaluations=seen)


def draw(shares: dict[chess.Move, float], temperature: float, generator: torch.Generator | None) -> chess.Move:
    """The likeliest move, or at a temperature one of them by lot."""
    if temperature == 0.0:
        return max(shares, key=shares.__getitem__)
    logits = torch.tensor(list(shares.values()), dtype=torch.float64).clamp(min=1e-300).log()
    return list(shares)[int(choose(logits, temperature, generator or torch.Generator().manual_seed(0)))]
