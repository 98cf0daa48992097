"""Arrays of records -> a batch of token ids in one layout, ready for the network."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.record_tokens import masked_record, record_tokens
from diffusearch.tokens.values import UNKNOWN


@dataclass(frozen=True)
class Batch:
    """Tokens of a batch of records in one layout; all tensors have the batch first."""

    tokens: Tensor  # [batch, variables] int64, ids within the vocabulary of each variable
    known: Tensor  # [batch, variables] bool: whether the token is known (else no loss, always noised)
    legal: Tensor  # [batch, moves + 1] bool: the root's legal moves in the layout's frame
    value: Tensor  # [batch] int64: bin of the root's value, -1 if unknown
    random_move: Tensor  # [batch] bool: the first move is random, and only the state after it is a target
    # [batch, K] first moves that the oracle scored, NONE fills up; K = 0 where no record has any
    scored_moves: Tensor = field(default_factory=lambda: torch.zeros((0, 0), dtype=torch.int64))
    scored_wins: Tensor = field(default_factory=lambda: torch.zeros((0, 0)))  # [batch, K] win probability after each

    def truncated(self, layout: Layout) -> Batch:
        """The same records in the layout of a shorter horizon."""
        end = layout.variables
        return replace(self, tokens=self.tokens[:, :end], known=self.known[:, :end])


def tokenise(arrays: dict[str, npt.NDArray[Any]], layout: Layout) -> Batch:
    """The tokens of records in a layout, whose horizon may be shorter than the records'."""
    black, encoding = arrays["black"], layout.encoding
    tokens, known = record_tokens(arrays, layout)
    legal = np.unpackbits(arrays["legal"], axis=1, bitorder="little")[:, : moves.VOCABULARY].astype(bool)
    if not encoding.turned:
        legal = np.where(black[:, None], legal[:, moves.TURN], legal)
    value = arrays["values"][:, 0].astype(np.int64)
    scored = arrays.get("scored_moves", np.zeros((len(black), 0))).astype(np.int64)
    if not encoding.turned:
        scored = np.where(black[:, None], moves.TURN[scored], scored)
    return Batch(
        torch.from_numpy(tokens),
        torch.from_numpy(known),
        torch.from_numpy(legal),
        torch.from_numpy(np.where(value == UNKNOWN, -1, value)),
        torch.from_numpy(arrays.get("random_move", np.zeros(len(black), dtype=bool))),
        torch.from_numpy(scored),
        torch.from_numpy(arrays.get("scored_wins", np.zeros((len(black), 0))).astype(np.float32)),
    )


def masked(given: Tensor, layout: Layout) -> Tensor:
    """Given variables [n, given variables], all others masked: [n, variables]."""
    return torch.from_numpy(masked_record(given.numpy(), layout))
