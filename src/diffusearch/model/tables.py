"""Lookup tables: the sum of several rows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def sum_rows(rows: Tensor, table: Tensor, ignored: int | None = None) -> Tensor:
    """The sums [n, width] of the rows of a table [rows, width] at indices [n, k]; the row `ignored` counts as zeros.

    `embedding_bag` is fast, but exporters turn it into a loop: an exported model gathers and adds.
    """
    if not torch.compiler.is_exporting():
        return F.embedding_bag(rows, table, mode="sum", padding_idx=ignored)
    gathered = F.embedding(rows, table)
    return (gathered if ignored is None else gathered * (rows != ignored)[..., None]).sum(1)
