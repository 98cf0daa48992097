"""Lookup tables: the sum of several rows, and tables of single numbers."""

from __future__ import annotations

from typing import Any

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


def numbers(rows: Tensor, table: Tensor) -> Tensor:
    """The numbers of a table [rows, 1] at indices of any shape.

    The backward pass of `embedding` handles one row at a time, which takes 40 times as long where a row is one number.
    """
    if torch.compiler.is_exporting():
        return F.embedding(rows, table)[..., 0]
    found: Tensor = _Numbers.apply(rows, table)  # type: ignore[no-untyped-call]
    return found


class _Numbers(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.count = len(table)
        return table[:, 0].index_select(0, rows.reshape(-1)).view(rows.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (rows,), (gradient,) = ctx.saved_tensors, gradients
        summed = gradient.new_zeros(ctx.count).index_add_(0, rows.reshape(-1), gradient.reshape(-1))
        return None, summed[:, None]
