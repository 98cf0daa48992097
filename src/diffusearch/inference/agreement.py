"""Do the graphs of a run compute what torch computes? Logits and states are compared on positions of random games."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import chess
import numpy as np

from diffusearch.diffusion.decoding import Decoding, Floats, Ints
from diffusearch.diffusion.torch_network import TorchNetwork
from diffusearch.inference.backend import DraftArrays, RootContext
from diffusearch.inference.onnx_backend import OnnxBackend, OnnxNetwork
from diffusearch.inference.roots import Roots, given_variables
from diffusearch.inference.run import Run
from diffusearch.tokens.drafts import NODES
from diffusearch.tokens.layout import JUDGES, Layout

TOLERANCE = 1e-3  # of logits; both sides compute in float32
_BATCH = 32


@dataclass(frozen=True)
class Agreement:
    """How far two computations agree."""

    positions: int
    difference: float  # the largest one between two logits
    same: float  # share of variables whose likeliest token is the same

    @property
    def good(self) -> bool:
        return self.difference <= TOLERANCE

    def __str__(self) -> str:
        return (
            f"{self.positions} positions, largest difference of a logit {self.difference:.1e}, "
            f"same likeliest token in {self.same:.2%}"
        )


def positions(count: int, seed: int) -> list[chess.Board]:
    """Positions of random games; each has a legal move."""
    generator = random.Random(seed)
    return [_position(generator) for _ in range(count)]


def _position(generator: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(generator.randrange(80)):
        board.push(generator.choice(list(board.legal_moves)))
        if not any(board.legal_moves):
            board.pop()
            break
    return board


def noised_records(given: Ints, layout: Layout, seed: int) -> Ints:
    """Records [n, variables] that begin with the given variables, each noised to a different degree, the first fully.

    What is visible of their futures is drawn from the vocabularies: arithmetic is compared here, not chess.
    """
    generator = np.random.default_rng(seed)
    sizes = layout.sizes[given.shape[1] :]
    visible = generator.random((len(given), len(sizes))) < np.linspace(0, 1, len(given))[:, None]
    future = np.where(visible, generator.integers(0, sizes, (len(given), len(sizes))), sizes)
    return np.concatenate([given, future], axis=1)


def agreement(run: Run, graphs: OnnxBackend, count: int, seed: int = 1) -> Agreement:
    """Compare a run in torch with its graphs: the first position alone, the others in batches.

    Policies and values, the states after a move, what is read from drafts, and logits of noised records of every
    horizon.
    """
    boards = positions(count, seed)
    difference, same, total = 0.0, 0, 0
    starts = [0, *range(1, count, _BATCH), count]
    for start, end in pairwise(starts):
        for ours, theirs in _outputs(run, graphs, boards[start:end], seed + start):
            difference = max(difference, float(np.abs(ours - theirs).max()))
            same += int((ours.argmax(-1) == theirs.argmax(-1)).sum())
            total += int(np.prod(ours.shape[:-1]))
    return Agreement(count, difference, same / total)


def _random_drafts(context: RootContext, seed: int) -> DraftArrays:
    """Three drafts of each root with drawn numbers; some nodes are missing, and in some the game is over."""
    generator = np.random.default_rng(seed)
    assert context.hidden is not None
    root = context.hidden.astype(np.float32)
    nodes = (len(root), 3, NODES)

    def drawn(*shape: int) -> Floats:
        return generator.normal(size=shape).astype(np.float32)

    exists = generator.random(nodes) < 0.8
    over = generator.random(nodes) < 0.1
    hidden = drawn(*nodes, *root.shape[1:])
    return DraftArrays(root, hidden, drawn(len(root)), drawn(*nodes), -np.abs(drawn(*nodes)), exists, over)


def _outputs(run: Run, graphs: OnnxBackend, boards: list[chess.Board], seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Pairs of arrays [..., vocabulary]: torch's and that of the graphs."""
    near = run.recipe.trained_layout()
    given = given_variables(boards, near)
    ours, theirs = run.backend.look(given, near), graphs.look(given, near)
    if ours.move_logits is not None and theirs.move_logits is not None:
        yield ours.move_logits, theirs.move_logits
    if ours.value_logits is not None and theirs.value_logits is not None:
        yield ours.value_logits, theirs.value_logits
    if ours.value_logits is not None and (alone := graphs.look(given, near, moves=False)).value_logits is not None:
        yield ours.value_logits, alone.value_logits
    if run.predicts_states:
        layout, rows = run.recipe.trained_layout(2), np.arange(len(boards))
        legal = Roots.of(boards, near).tokens
        moves = np.array([own[(seed + row) % len(own)] for row, own in enumerate(legal)])
        states, likelihood = run.backend.next_states(ours.context, rows, moves, layout)
        found, theirs_too = graphs.next_states(theirs.context, rows, moves, layout)
        yield np.ones((*states.shape, 1)), (states == found).astype(np.float64)[..., None]  # another token differs by 1
        yield likelihood[:, None], theirs_too[:, None]
    if run.reads_drafts:
        drafts = _random_drafts(ours.context, seed)
        read, also_read = run.backend.read_drafts(drafts), graphs.read_drafts(drafts)
        yield read.scale * read.scores, also_read.scale * also_read.scores
        yield read.wins, also_read.wins
    if run.paradigm not in JUDGES:
        for horizon in range(min(run.recipe.trained_horizons), run.horizon + 1):
            layout = run.layout.truncated(horizon)
            x = noised_records(given, layout, seed)
            logits = TorchNetwork(run.net, given, layout, Decoding()).logits(x, layout, layout.groups, None)
            for kind, found_logits in OnnxNetwork(graphs, theirs).logits(x, layout, layout.groups, None).items():
                yield logits[kind], found_logits
