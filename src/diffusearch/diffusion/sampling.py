"""Easy-first denoising (paper, section 3.3): from a record in which only the root is visible to a whole record.

At time t -> t' the network predicts the targets; the share t'/T of them that ranks lowest is noise at t', the others
show their predicted tokens. `Decoding.carry` says what becomes of targets that were visible at t. What noise looks like
is up to the process (`Noise`): the mask, or a token drawn at random.

Each step computes all places, or with `cache` (faster, not exact) only those that are noised or were fixed in the last
step: see diffusearch.model.kv_cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding, choose, ease, first_move, gumbel
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.model.kv_cache import KVCache
from diffusearch.tokens.layout import Layout

# Noised tokens [batch, targets] at time `now` (at now = after = T: none yet, all masks) -> as they are at time `after`.
Noise = Callable[[Tensor, int, int], Tensor]


@dataclass(frozen=True)
class SampleFrame:
    """A batch of records in the middle of denoising."""

    tokens: Tensor  # [batch, variables], masks where noised
    likelihood: Tensor  # [batch, variables] probability of each token as predicted last; 1 where it is given
    move_log_probabilities: Tensor | None = None  # [batch, moves] of the first move as predicted last


@dataclass
class Sample:
    """Denoised records and how they came about."""

    tokens: Tensor  # [batch, variables]
    log_probability: Tensor  # [batch] sum of the log-likelihoods with which variables were fixed (last)
    move_log_probabilities: Tensor | None  # [batch, moves] of the first move when it was fixed, under the legality mask
    raw_move_logits: Tensor | None  # [batch, moves] the same before the mask
    steps: Tensor  # [batch] network calls
    film: list[SampleFrame] = field(default_factory=list)  # after each step, from fully noised on
    value_logits: Tensor | None = None  # [batch, 128] of the root, where the model has that head
    move_step: Tensor | None = None  # [batch] the call after which the first move was visible and changed no more


def time_grid(steps: int, timesteps: int) -> list[int]:
    """Times T = t_0 > t_1 > ... > t_n = 0 for at most `steps` network calls."""
    steps = min(steps, timesteps)
    return [round(timesteps * (steps - i) / steps) for i in range(steps + 1)]


def schedule(layout: Layout, decoding: Decoding, timesteps: int) -> list[tuple[int, int, int]]:
    """For each network call the times before and after it, and how many targets are visible then.

    In the order "plies" a call fixes a whole move or a whole state, so that no state is predicted before the move that
    leads to it. If there are fewer steps than those, later calls fix several; the first move has a call of its own.
    """
    targets = layout.predicted
    if decoding.order != "plies":
        grid = time_grid(decoding.steps, timesteps)
        return [(now, after, targets - math.floor(targets * after / timesteps)) for now, after in pairwise(grid)]
    starts = [segment.start - layout.given_variables for segment in layout.segments if not segment.given]
    ends = [*starts[1:], targets]
    calls = min(decoding.steps, len(ends))
    keeps = [ends[math.ceil(call * (len(ends) - 1) / (calls - 1))] for call in range(calls)] if calls > 1 else ends[-1:]
    times = [timesteps, *(round(timesteps * (1 - keep / targets)) for keep in keeps)]
    return [(now, after, keep) for (now, after), keep in zip(pairwise(times), keeps, strict=True)]


def reach(layout: Layout, decoding: Decoding, keep: int) -> Layout:
    """The layout that one call computes; after the call `keep` targets are visible.

    With order plies it ends at the current ply; otherwise it is the whole record.
    """
    if decoding.order != "plies" or decoding.move_last or decoding.cache:
        return layout
    return layout.truncated(int(layout.plies[layout.given_variables + keep - 1]) + 1)


@torch.inference_mode()
def denoise(
    net: Denoiser,
    given: Tensor,
    layout: Layout,
    decoding: Decoding,
    timesteps: int,
    generator: torch.Generator,
    allowed: Tensor | None = None,
    noise: Noise = lambda tokens, now, after: tokens,
    film: bool = False,
) -> Sample:
    """Given variables [batch, given variables] and allowed first moves [batch, moves] -> samples.

    By default a noised variable is its mask token. `film` records every step.
    """
    batch, fixed = given.shape
    masks = torch.from_numpy(layout.sizes[fixed:]).expand(batch, -1)
    noised = noise(masks, timesteps, timesteps)
    x = torch.cat([given, noised], dim=1)
    targets = layout.variables - fixed
    root = net.read_root(x, layout) if net.prefix else None
    cache = KVCache(net, layout, root, batch, decoding.ahead or None) if decoding.cache else None
    scores = torch.zeros(batch, targets)
    visible = torch.zeros(batch, targets, dtype=torch.bool)
    fixed_likelihood = torch.zeros(batch, targets, dtype=torch.float64)  # of each variable when it was fixed last
    calls = torch.zeros(batch, dtype=torch.int64)
    action = layout.segment("a", 0)
    move = None if action is None or action.given else action.start - fixed  # the first move's column
    shape = (batch, 0) if move is None else (batch, layout.sizes[move + fixed])
    moves, raw_moves = torch.zeros(shape), torch.zeros(shape)
    move_step = torch.zeros(batch, dtype=torch.int64)
    done = torch.zeros(batch, dtype=torch.bool)
    frames = [SampleFrame(torch.cat([given, masks], dim=1), _certain(fixed, torch.zeros(masks.shape)))] if film else []
    value = estimate = None
    for now, after, keep in schedule(layout, decoding, timesteps):
        if done.all():
            break
        running = ~done
        here = reach(layout, decoding, keep)
        if cache is None:
            hidden = _hidden(net, x, here, root, estimate)
        else:
            due = keep - int(visible.sum(1).min())
            hidden = cache.hidden(x, F.pad(visible, (fixed, 0), value=True), F.pad(scores, (fixed, 0)), due)
        if value is None and net.root_value is not None:
            value = net.value_logits(hidden, here).float()
        tokens, log_likelihood, scores, move_logits = _predict(
            net, hidden, here, decoding, x, visible, generator, allowed
        )
        estimate = torch.cat([given, tokens], dim=1)
        if decoding.order == "random":
            scores = torch.rand(scores.shape, generator=generator)
        elif decoding.order in ("left-to-right", "plies"):
            scores = -torch.arange(targets, dtype=torch.float32).expand(batch, -1)
        elif decoding.carry == "gumbel":
            scores = scores + 0.5 * after / timesteps * gumbel(scores.shape, generator)
        if decoding.keeps:
            scores = scores.masked_fill(visible, math.inf)
        if move is not None and decoding.move_last and after > 0 and targets > 1:
            scores[:, move] = -math.inf
            keep = min(keep, targets - 1)
        chosen = torch.zeros_like(visible).scatter_(1, scores.topk(keep, dim=1).indices, True)
        if decoding.stop_confidence:
            doubtful = (log_likelihood < math.log(decoding.stop_confidence)) & ~(visible & decoding.keeps)
            done = done | ~doubtful.any(1)
            chosen |= done[:, None]
        new = (chosen & ~visible if decoding.keeps else chosen) & running[:, None]
        if cache is not None and move is not None and bool(visible.any()) and bool(new[:, move].any()):
            # cached places may be old: the move is fixed after a call that computes everything
            whole = net.hidden(x, layout, root)
            token, likelihood, move_logits = _first(net, whole, layout, decoding, x, generator, allowed)
            tokens[:, move] = torch.where(new[:, move], token, tokens[:, move])
            log_likelihood[:, move] = torch.where(new[:, move], likelihood, log_likelihood[:, move])
        if move is not None:
            changed = new[:, move] & ~(visible[:, move] & (tokens[:, move] == x[:, fixed + move]))
            move_step = torch.where(changed, calls + 1, move_step)
            if move_logits:
                fresh = new[:, move, None]
                moves = torch.where(fresh, move_logits[0], moves)
                raw_moves = torch.where(fresh, move_logits[1], raw_moves)
        fixed_likelihood = torch.where(new, log_likelihood.double(), fixed_likelihood)
        kept = torch.where(running[:, None], chosen | (visible & decoding.keeps), visible)
        tokens = torch.where(running[:, None], tokens, x[:, fixed:])
        noised = noise(torch.where(visible & ~kept, masks, noised), now, after)
        x[:, fixed:] = torch.where(kept, tokens, noised)
        visible = kept
        calls += running
        # else what is visible is predicted anew to the last step; a single target is never visible in training
        if decoding.keeps or targets == 1:
            done = done | visible.all(1)
        if film:
            shown = torch.cat([given, torch.where(kept, tokens, masks)], dim=1)
            likely = _certain(fixed, torch.where(kept, fixed_likelihood.exp().float(), log_likelihood.exp()))
            frames.append(SampleFrame(shown, likely, move_logits[0] if move_logits else None))
    joint = fixed_likelihood.sum(1)
    has_move = move is not None
    return Sample(
        x,
        joint,
        moves if has_move else None,
        raw_moves if has_move else None,
        calls,
        frames,
        value,
        move_step if has_move else None,
    )


def _hidden(net: Denoiser, x: Tensor, layout: Layout, root: Root | None, estimate: Tensor | None) -> Tensor:
    """Hidden states of the record; with self-conditioning they read what the last step predicted."""
    x = x[:, : layout.variables]
    if estimate is None or net.self_conditioning is None:
        return net.hidden(x, layout, root)
    return net.hidden(x, layout, root, estimate[:, : layout.variables])


def _certain(given: int, likelihood: Tensor) -> Tensor:
    """Probabilities of targets [batch, targets] with those of the given variables before them, which are 1."""
    return F.pad(likelihood, (given, 0), value=1.0)


def _first(
    net: Denoiser,
    hidden: Tensor,
    layout: Layout,
    decoding: Decoding,
    x: Tensor,
    generator: torch.Generator,
    allowed: Tensor | None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """The first move alone: its token and that token's log-likelihood [batch], its log-probabilities and raw logits."""
    action = layout.segment("a", 0)
    assert action is not None
    logits = net.logits(hidden, layout, layout.groups_at(action.place), tokens=x)["action"].float()
    logits, *first = first_move(logits, allowed, decoding)
    token = choose(logits[:, 0], decoding.temperature, generator)
    return token, first[0].gather(-1, token[:, None])[:, 0], first


def _predict(
    net: Denoiser,
    hidden: Tensor,
    layout: Layout,
    decoding: Decoding,
    x: Tensor,
    visible: Tensor,
    generator: torch.Generator,
    allowed: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    """For every target its token, that token's log-likelihood and its ease; and for the first move, where it is
    predicted, its masked log-probabilities and raw logits.

    Where decoding keeps what is fixed, a visible target has its visible token, and types without a noised variable are
    not computed (unless tokens are sampled: how many numbers a step takes from the generator would then depend on the
    other records of the batch)."""
    fixed = layout.given_variables
    current = x[:, fixed:]
    tokens, scores = current.clone(), torch.zeros(current.shape)
    log_likelihood = torch.full(current.shape, -math.inf)  # of what lies beyond the layout
    first: list[Tensor] = []
    x = x[:, : layout.variables]
    groups = layout.groups
    if decoding.keeps and decoding.temperature == 0.0:
        groups = tuple(group for group in groups if not visible[:, group.variables - fixed].all())
    every = net.logits(hidden, layout, groups, tokens=x)
    for group in groups:
        logits = every[group.type].float()
        columns = torch.from_numpy(group.variables) - fixed
        if group.type == "action":
            logits, *first = first_move(logits, allowed, decoding)
        log_p = torch.log_softmax(logits, -1)
        token = choose(logits, decoding.temperature, generator)
        if decoding.keeps:
            token = torch.where(visible[:, columns], current[:, columns], token)
        likelihood = log_p.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        tokens[:, columns], log_likelihood[:, columns] = token, likelihood
        scores[:, columns] = ease(log_p, likelihood, decoding.order)
    return tokens, log_likelihood, scores, first
