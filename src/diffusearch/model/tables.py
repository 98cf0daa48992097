"""Lookup tables: the sum of several rows, and the learning-rate multiplier of small tables."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

# Adam moves every number by about the same step. A table with few numbers and large effects (a logit of -12 for a move
# into check) needs larger steps: its numbers are multiplied by this factor where they are used.
LEARNING_RATE_MULTIPLIER = 30.0


def sum_rows(rows: Tensor, table: Tensor, ignored: int | None = None) -> Tensor:
    """The sums [n, width] of the rows of a table [rows, width] at indices [n, k]; the row `ignored` counts as zeros.

    `embedding_bag` is fast, but exporters turn it into a loop: an exported model gathers and adds.
    """
    if not torch.compiler.is_exporting():
        return F.embedding_bag(rows, table, mode="sum", padding_idx=ignored)
    gathered = F.embedding(rows, table)
    return (gathered if ignored is None else gathered * (rows != ignored)[..., None]).sum(1)
