"""Easy-first denoising (paper, section 3.3): from a record in which only the root is visible to a whole record.

At time t -> t' the network predicts the targets; the share t'/T of them that ranks lowest is noise at t', the others
show their predicted tokens. `Decoding.carry` says what becomes of targets that were visible at t. What noise looks like
is up to the process (`Noise`): the mask, or a token drawn at random.

The algorithm works on arrays of numpy, whoever computes the network (`RecordNetwork`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from diffusearch.diffusion.decoding import (
    Bools,
    Decoding,
    Floats,
    Ints,
    choose,
    first_move,
    gumbel,
    log_softmax,
    picked,
)
from diffusearch.diffusion.ranking import ease, easiest_segments, highest
from diffusearch.diffusion.steps import most_visible, reach, schedule
from diffusearch.tokens.layout import Group, Layout

# Noised tokens [batch, targets] at time `now` (at now = after = T: none yet, all masks) -> as they are at time `after`.
Noise = Callable[[Ints, int, int], Ints]


@dataclass(frozen=True)
class Progress:
    """How far the denoising of a batch has come."""

    visible: Bools  # [batch, targets]
    ease: Floats  # [batch, targets] the last ranking (higher is fixed earlier)
    due: int  # how many targets this call fixes at most
    estimate: Ints | None  # [batch, variables] the record as the last call predicted it


class RecordNetwork(Protocol):
    """The network while a batch of records is denoised; their roots stay the same from call to call."""

    @property
    def value_logits(self) -> Floats | None:
        """[batch, 128] of the roots, from the first call on; None where the model has no such head."""

    def logits(self, x: Ints, layout: Layout, groups: Sequence[Group], progress: Progress | None) -> dict[str, Floats]:
        """Logits [batch, variables, vocabulary] by type, of some groups of the records x [batch, variables].

        A network may reuse what it computed in earlier calls of the same `progress`; without one it must not.
        """


@dataclass(frozen=True)
class SampleFrame:
    """A batch of records in the middle of denoising."""

    tokens: Ints  # [batch, variables], masks where noised
    likelihood: Floats  # [batch, variables] probability of each token as predicted last; 1 where it is given
    move_log_probabilities: Floats | None = None  # [batch, moves] of the first move as predicted last


@dataclass
class Sample:
    """Denoised records and how they came about."""

    tokens: Ints  # [batch, variables]
    log_probability: Floats  # [batch] sum of the log-likelihoods with which variables were fixed (last)
    move_log_probabilities: Floats | None  # [batch, moves] of the first move when it was fixed, under the legality mask
    raw_move_logits: Floats | None  # [batch, moves] the same before the mask
    steps: Ints  # [batch] network calls
    film: list[SampleFrame] = field(default_factory=list)  # after each step, from fully noised on
    value_logits: Floats | None = None  # [batch, 128] of the root, where the model has that head
    move_step: Ints | None = None  # [batch] the call after which the first move was visible and changed no more


def denoise(
    network: RecordNetwork,
    given: Ints,
    layout: Layout,
    decoding: Decoding,
    timesteps: int,
    generator: np.random.Generator,
    allowed: Bools | None = None,
    noise: Noise = lambda tokens, now, after: tokens,
    film: bool = False,
) -> Sample:
    """Given variables [batch, given variables] and allowed first moves [batch, moves] -> samples.

    By default a noised variable is its mask token. `film` records every step.
    """
    batch, fixed = given.shape
    targets = layout.variables - fixed
    masks = np.broadcast_to(layout.sizes[fixed:], (batch, targets))
    noised = noise(masks, timesteps, timesteps)
    x = np.concatenate([given, noised], axis=1)
    scores: Floats = np.zeros((batch, targets), dtype=np.float32)
    visible = np.zeros((batch, targets), dtype=bool)
    fixed_likelihood = np.zeros((batch, targets))  # of each variable when it was fixed last
    calls = np.zeros(batch, dtype=np.int64)
    action = layout.segment("a", 0)
    move = None if action is None or action.given else action.start - fixed  # the first move's column
    shape = (batch, 0) if move is None else (batch, int(layout.sizes[move + fixed]))
    moves, raw_moves = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
    move_step = np.zeros(batch, dtype=np.int64)
    done = np.zeros(batch, dtype=bool)
    frames = []
    if film:
        frames.append(SampleFrame(np.concatenate([given, masks], axis=1), certain(fixed, np.zeros((batch, targets)))))
    estimate: Ints | None = None
    planned = schedule(layout, decoding, timesteps)
    for call, (now, after, keep) in enumerate(planned, 1):
        if done.all():
            break
        running = ~done
        here = reach(layout, decoding, keep)
        due = most_visible(layout, decoding, keep) - int(visible.sum(1).min())
        progress = Progress(visible, scores, due, estimate)
        tokens, log_likelihood, scores, move_logits = _predict(network, here, decoding, x, progress, generator, allowed)
        estimate = np.concatenate([given, tokens], axis=1)
        if decoding.order == "random":
            scores = generator.random(scores.shape)
        elif decoding.order in ("left-to-right", "plies"):
            scores = np.broadcast_to(-np.arange(targets, dtype=np.float32), (batch, targets))
        elif decoding.carry == "gumbel":
            scores = scores + 0.5 * after / timesteps * gumbel(scores.shape, generator)
        if decoding.keeps:
            scores = np.where(visible, np.inf, scores)
        if move is not None and decoding.move_last and call < len(planned) and targets > 1:
            scores[:, move] = -np.inf
            keep = min(keep, targets - 1)
        if decoding.order == "segments":
            chosen = easiest_segments(log_likelihood, visible, layout, keep)
        else:
            chosen = highest(scores, keep)
        if decoding.stop_confidence:
            doubtful = (log_likelihood < math.log(decoding.stop_confidence)) & ~(visible & decoding.keeps)
            done = done | ~doubtful.any(1)
            chosen |= done[:, None]
        new = (chosen & ~visible if decoding.keeps else chosen) & running[:, None]
        if decoding.cache and move is not None and visible.any() and new[:, move].any():
            # cached places may be old: the move is fixed after a call that computes everything
            token, likelihood, move_logits = _first(network, layout, decoding, x, generator, allowed)
            tokens[:, move] = np.where(new[:, move], token, tokens[:, move])
            log_likelihood[:, move] = np.where(new[:, move], likelihood, log_likelihood[:, move])
        if move is not None:
            changed = new[:, move] & ~(visible[:, move] & (tokens[:, move] == x[:, fixed + move]))
            move_step = np.where(changed, calls + 1, move_step)
            if move_logits is not None:
                fresh = new[:, move, None]
                moves = np.where(fresh, move_logits[0], moves)
                raw_moves = np.where(fresh, move_logits[1], raw_moves)
        fixed_likelihood = np.where(new, log_likelihood, fixed_likelihood)
        kept = np.where(running[:, None], chosen | (visible & decoding.keeps), visible)
        tokens = np.where(running[:, None], tokens, x[:, fixed:])
        noised = noise(np.where(visible & ~kept, masks, noised), now, after)
        x[:, fixed:] = np.where(kept, tokens, noised)
        visible = kept
        calls += running
        # else what is visible is predicted anew to the last step; a single target is never visible in training
        if decoding.keeps or targets == 1:
            done = done | visible.all(1)
        if film:
            shown = np.concatenate([given, np.where(kept, tokens, masks)], axis=1)
            likely = certain(fixed, np.exp(np.where(kept, fixed_likelihood, log_likelihood)))
            frames.append(SampleFrame(shown, likely, None if move_logits is None else move_logits[0]))
    joint = fixed_likelihood.sum(1)
    if move is None:
        return Sample(x, joint, None, None, calls, frames, network.value_logits)
    return Sample(x, joint, moves, raw_moves, calls, frames, network.value_logits, move_step)


def certain(given: int, likelihood: Floats) -> Floats:
    """Probabilities of targets [batch, targets] with those of the given variables before them, which are 1."""
    return np.concatenate([np.ones((len(likelihood), given)), likelihood], axis=1).astype(np.float32)


# The first move's masked log-probabilities and raw logits, [batch, moves] each.
MoveLogits = tuple[Floats, Floats]


def _first(
    network: RecordNetwork,
    layout: Layout,
    decoding: Decoding,
    x: Ints,
    generator: np.random.Generator,
    allowed: Bools | None,
) -> tuple[Ints, Floats, MoveLogits]:
    """The first move alone, from a call that computes everything: its token and that token's likelihood [batch]."""
    action = layout.segment("a", 0)
    assert action is not None
    found = network.logits(x, layout, layout.groups_at(action.place), None)["action"].astype(np.float32)
    logits, likely, raw = first_move(found, allowed, decoding)
    token = choose(logits[:, 0], decoding.temperature, generator)
    return token, picked(likely, token), (likely, raw)


def _predict(
    network: RecordNetwork,
    layout: Layout,
    decoding: Decoding,
    x: Ints,
    progress: Progress,
    generator: np.random.Generator,
    allowed: Bools | None,
) -> tuple[Ints, Floats, Floats, MoveLogits | None]:
    """For every target its token, that token's log-likelihood and its ease; and what is known of the first move, where
    it is predicted.

    Where decoding keeps what is fixed, a visible target has its visible token, and types without a noised variable are
    not computed (unless tokens are sampled: how many numbers a step takes from the generator would then depend on the
    other records of the batch)."""
    fixed, visible = layout.given_variables, progress.visible
    current = x[:, fixed:]
    tokens, scores = current.copy(), np.zeros(current.shape, dtype=np.float32)
    log_likelihood = np.full(current.shape, -np.inf, dtype=np.float32)  # of what lies beyond the layout
    first: MoveLogits | None = None
    groups: Sequence[Group] = layout.groups
    if decoding.keeps and decoding.temperature == 0.0:
        groups = [group for group in groups if not visible[:, group.variables - fixed].all()]
    every = network.logits(x[:, : layout.variables], layout, groups, progress)
    for group in groups:
        logits: Floats = every[group.type].astype(np.float32, copy=False)
        columns = group.variables - fixed
        if group.type == "action":
            logits, *known = first_move(logits, allowed, decoding)
            first = known[0], known[1]
        log_p = log_softmax(logits)
        token = choose(logits, decoding.temperature, generator)
        if decoding.keeps:
            token = np.where(visible[:, columns], current[:, columns], token)
        likelihood = picked(log_p, token)
        tokens[:, columns], log_likelihood[:, columns] = token, likelihood
        scores[:, columns] = ease(log_p, likelihood, decoding.order)
    return tokens, log_likelihood, scores, first
