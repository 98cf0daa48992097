"""What a run asks of its network: arrays of numpy in and out. A back end computes it with torch or with onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.sampling import Sample
from diffusearch.tokens.layout import Layout

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]


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


class Backend(Protocol):
    """The network of one run."""

    name: str  # "torch" or "onnx"

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

    def sample(
        self,
        given: Tensor,
        layout: Layout,
        decoding: Decoding,
        generator: torch.Generator,
        allowed: Tensor | None,
        film: bool,
    ) -> Sample:
        """Denoised records of given variables and allowed first moves [batch, moves]."""
