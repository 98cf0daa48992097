"""What a run asks of its network: arrays of numpy in and out. A back end computes it with torch or with onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from diffusearch.diffusion.decoding import Bools, Decoding, Floats, Ints
from diffusearch.diffusion.sampling import Sample
from diffusearch.tokens.layout import Layout


class RootContext(Protocol):
    """What a back end keeps of a batch of roots, so that it need not compute them again. Only it reads the rest."""

    @property
    def given(self) -> Ints:
        """[batch, given variables] the roots themselves."""

    @property
    def hidden(self) -> Floats | None:
        """[batch, given places, width] the trunk's hidden states of the roots; None where these see the future."""


@dataclass(frozen=True)
class Look:
    """One network call on a batch of roots."""

    move_logits: Floats | None  # [batch, moves] of the first move, unmasked
    value_logits: Floats | None  # [batch, 128] of the root's value
    context: RootContext


class DraftArrays(NamedTuple):
    """K drafts of each of n roots (tokens/drafts.py). What does not exist may hold any finite number."""

    root: Floats  # [n, given places, width] hidden states of the roots
    hidden: Floats  # [n, K, nodes, given places, width] of the drafted positions, each seen by its own side to move
    root_odds: Floats  # [n] log odds of the root's mover
    odds: Floats  # [n, K, nodes] log odds of the root's mover
    log_shares: Floats  # [n, K, nodes] log probability of the move that leads to the node
    exists: Bools  # [n, K, nodes] drafted and a valid position
    over: Bools  # [n, K, nodes] the game is over there


class DraftReading(NamedTuple):
    """What the network reads from drafts: move k has softmax(scale x (log prior + score))_k among them."""

    scores: Floats  # [n, K] of drafted moves
    scale: float
    wins: Floats  # [n, K] win probability of the root's mover after drafted moves


class Backend(Protocol):
    """The network of one run."""

    name: str  # "torch" or "onnx"
    batch: int  # positions, or states after their moves, in one call of `look` or `next_states`

    def quantised(self) -> Backend:
        """The same network with 8-bit weights in its trunk: faster on a CPU, not exact."""

    def refusal(self, decoding: Decoding, horizon: int) -> str | None:
        """Why records of a horizon cannot be denoised so; None if they can."""

    def look(self, given: Ints, layout: Layout, *, moves: bool = True) -> Look:
        """The first move's logits and the root's value of given variables [batch, given variables].

        Without `moves` only the value is computed.
        """

    def read_roots(self, given: Ints, layout: Layout) -> RootContext:
        """The context of roots without a look at them."""

    def next_states(self, context: RootContext, rows: Ints, moves: Ints, layout: Layout) -> tuple[Ints, Floats]:
        """The likeliest states after moves [n], each played at one of the context's roots, `rows` [n].

        Returns records [n, variables] with these states and their log-probabilities [n].
        """

    def action_values(self, given: Ints, layout: Layout) -> Floats:
        """Logits [batch, 128] of the values of the given actions (sa-v)."""

    def read_drafts(self, drafts: DraftArrays) -> DraftReading:
        """The revision of the first move by drafts; only where the model has a draft reader."""

    def sample(
        self,
        given: Ints,
        layout: Layout,
        decoding: Decoding,
        generator: np.random.Generator,
        allowed: Bools | None,
        film: bool,
    ) -> Sample:
        """Denoised records of given variables and allowed first moves [batch, moves]."""
