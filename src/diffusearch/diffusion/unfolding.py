"""Unfolding: of a position the shares of its moves, its value, and the states that are imagined behind its likeliest.

Two network calls for all positions of a batch: a glance at the position, then the states, each with its move held
fixed. Under prefix attention the root does not see the future, so it is computed once and serves all of this. The
states are imagined: the rules say which moves are legal in a position, never what a move does to the board.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.reading import Reader
from diffusearch.diffusion.roots import Allowed, Roots, masked, tokens_of
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.states import InvalidState
from diffusearch.tokens.values import BIN_VALUES

BATCH = 256  # positions, or states behind them, at a time


@dataclass(frozen=True)
class Imagined:
    """The state that was imagined behind a move."""

    board: chess.Board | None  # None: no valid position,
    problem: str | None = None  # for this reason,
    squares: str | None = None  # and so it looks: 64 characters from a8
    log_probability: float = 0.0  # of all its variables


@dataclass(frozen=True)
class Unfolded:
    """What is seen in one position."""

    shares: dict[chess.Move, float]  # of the moves that may be played; they sum to 1
    value: float  # win probability of the side to move
    states: dict[chess.Move, Imagined]  # behind the likeliest moves, these first
    legal_mass: float | None = None  # share of the unmasked move distribution that lies on legal moves
    raw_legal: bool | None = None  # whether the likeliest move would have been legal without the mask


@torch.inference_mode()
def unfold(
    net: Denoiser, roots: Roots, given: Tensor, near: Layout, count: int, narrowed: Allowed | None
) -> list[Unfolded]:
    """Roots that have moves, and their given variables [n, given variables], with the states behind `count` moves.

    `near` is the layout in which the moves' shares are read.
    """
    x = masked(given, near)
    root = net.read_root(x, near) if net.prefix else None
    hidden = net.hidden(x, near, root)
    action = near.segment("a", 0)
    assert action is not None
    logits = net.logits(hidden, near, near.groups_at(action.place), tokens=x)["action"][:, 0].double().numpy()
    values: list[float] = (net.value_logits(hidden, near).float().softmax(-1) @ torch.from_numpy(BIN_VALUES)).tolist()
    legal = roots.moves if narrowed is None else narrowed
    tokens = roots.tokens if narrowed is None else tokens_of(roots.boards, narrowed, near)
    seen: list[Unfolded] = []
    asked: list[tuple[int, chess.Move, int]] = []  # the root's row, the move and its token
    raw = np.exp(logits - logits.max(1, keepdims=True))
    for row, (own, ids) in enumerate(zip(legal, tokens, strict=True)):
        powers = np.exp(logits[row, ids] - logits[row, ids].max())
        shares = powers / powers.sum()
        lawful = roots.tokens[row]
        mass, best = raw[row, lawful].sum() / raw[row].sum(), raw[row, lawful].max() == 1.0
        seen.append(Unfolded(dict(zip(own, shares.tolist(), strict=True)), values[row], {}, float(mass), bool(best)))
        asked += [(row, own[place], ids[place]) for place in np.argsort(-shares, kind="stable")[:count].tolist()]
    for start in range(0, len(asked), BATCH):
        part = asked[start : start + BATCH]
        for (row, move, _), state in zip(part, _states(net, roots, given, near.truncated(2), root, part), strict=True):
            seen[row].states[move] = state
    return seen


def _states(
    net: Denoiser,
    roots: Roots,
    given: Tensor,
    layout: Layout,
    root: Root | None,
    asked: list[tuple[int, chess.Move, int]],
) -> list[Imagined]:
    """The state behind each move, in one network call."""
    rows = torch.tensor([row for row, _, _ in asked])
    action = layout.segment("a", 0)
    assert action is not None
    x = masked(given[rows], layout)
    x[:, action.start] = torch.tensor([token for _, _, token in asked])
    past = None if root is None else _picked(root, rows)
    groups = tuple(group for group in layout.groups if group.type != "action")
    likelihood = torch.zeros(len(asked), dtype=torch.float64)
    for kind, logits in net.logits(net.hidden(x, layout, past), layout, groups, tokens=x).items():
        columns = next(group.variables for group in groups if group.type == kind)
        x[:, torch.from_numpy(columns)] = logits.argmax(-1)
        likelihood += (logits.amax(-1) - logits.logsumexp(-1)).sum(-1)
    out: list[Imagined] = []
    for tokens, one, (row, _, _) in zip(x.numpy(), likelihood.tolist(), asked, strict=True):
        reader = Reader(layout, roots.boards[row])
        try:
            out.append(Imagined(reader.board(tokens, 1), log_probability=one))
        except InvalidState as error:
            out.append(Imagined(None, str(error), reader.squares(tokens, 1), one))
    return out


def _picked(root: Root, rows: Tensor) -> Root:
    """Some of the roots, each as often as it is named."""
    rows = rows.to(root.hidden.device)
    return Root(root.hidden[rows], [(keys[rows], values[rows]) for keys, values in root.past])
