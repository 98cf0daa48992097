"""From records to batches: which rows come at which step, and their tokens in a layout.

The order is a pure function of (seed, step): the cursor of a run is its step number, so a resumed run reads on
exactly where it stopped, and many processes read disjoint parts of the same batch. Records are shuffled on disk;
each epoch visits blocks of them in a new order, so that reading stays sequential on data larger than memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from diffusearch.data.records import UNKNOWN, Records
from diffusearch.errors import UserError
from diffusearch.tokens import moves, states
from diffusearch.tokens.layout import Layout

_BLOCK = 512  # records read in one piece


@dataclass(frozen=True)
class Batch:
    """Tokens of a batch of records in one layout; all tensors have the batch first."""

    tokens: torch.Tensor  # [batch, variables] int64, local ids
    known: torch.Tensor  # [batch, variables] bool: whether the token is known (else no loss, always noised)
    legal: torch.Tensor  # [batch, moves + 1] bool: the root's legal moves in the layout's frame
    value: torch.Tensor  # [batch] int64: bin of the root's value, -1 if unknown
    random_move: torch.Tensor  # [batch] bool: the first move is random, only the state behind it is trained

    def truncated(self, layout: Layout) -> Batch:
        """The same records in the layout of a shorter horizon."""
        end = layout.variables
        return Batch(self.tokens[:, :end], self.known[:, :end], self.legal, self.value, self.random_move)


def source_rows(count: int, start: int, size: int, seed: Sequence[int]) -> npt.NDArray[np.int64]:
    """The rows number start .. start+size of an endless stream that visits `count` records once an epoch."""
    out = np.empty(size, dtype=np.int64)
    blocks = -(-count // _BLOCK)
    filled = 0
    while filled < size:
        epoch, offset = divmod(start + filled, count)
        rng = np.random.default_rng([*seed, epoch])
        order = rng.permutation(blocks)
        lengths = np.where(order == blocks - 1, count - (blocks - 1) * _BLOCK, _BLOCK)
        ends = np.cumsum(lengths)
        block = int(np.searchsorted(ends, offset, side="right"))
        while filled < size and block < blocks:
            inside = offset - (int(ends[block]) - int(lengths[block]))
            length = min(int(lengths[block]) - inside, size - filled)
            first = int(order[block]) * _BLOCK
            shuffled = np.random.default_rng([*seed, epoch, first]).permutation(int(lengths[block]))
            out[filled : filled + length] = first + shuffled[inside : inside + length]
            filled, offset, block = filled + length, offset + length, block + 1
    return out


class Mixture:
    """Several record sources, each with a share of every batch."""

    def __init__(self, sources: Sequence[Records], weights: Sequence[float], seed: int) -> None:
        self.sources, self.seed = list(sources), seed
        total = sum(weights)
        self._edges = np.cumsum([0.0, *weights]) / total

    def rows(self, step: int, size: int) -> list[npt.NDArray[np.int64]]:
        """For each source its rows in the batch of a step (counted from 0) of `size` records in all.

        Source j has drawn floor(edge_{j+1} * n) - floor(edge_j * n) of the first n records: shares are exact over time.
        (That number never falls as long as every source has at least one record in a batch.)
        """
        least = int(np.diff(self._edges).argmin())
        if np.diff(self._edges)[least] * size < 1.0 - 1e-9:
            words = f"{self.sources[least].folder} gets less than one record in a batch of {size}"
            raise UserError(f"{words}: raise its weight or the batch")
        before = np.floor(self._edges * step * size + 1e-9).astype(np.int64)
        after = np.floor(self._edges * (step + 1) * size + 1e-9).astype(np.int64)
        starts, ends = np.diff(before), np.diff(after)
        return [
            source_rows(len(source), int(starts[j]), int(ends[j] - starts[j]), (self.seed, j))
            for j, source in enumerate(self.sources)
        ]

    def take(self, step: int, size: int) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the batch of a step."""
        rows = self.rows(step, size)
        parts = [source.take(index) for source, index in zip(self.sources, rows, strict=True) if len(index)]
        horizon = min(source.horizon for source in self.sources)
        cut = {"states", "moves", "values"}
        return {
            name: np.concatenate([part[name][:, :horizon] if name in cut else part[name] for part in parts])
            for name in parts[0]
        }


def mirrored(arrays: dict[str, npt.NDArray[Any]], chosen: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
    """Mirror the files of the chosen records in which nobody may castle: the same chess, seen in a looking glass."""
    rows = chosen & (arrays["states"][:, 0, states.CASTLING] == 0)
    out = {name: np.array(array) for name, array in arrays.items()}
    out["states"][rows] = states.looking_glass(out["states"][rows])
    out["moves"][rows] = moves.MIRROR[out["moves"][rows]]
    bits = np.unpackbits(out["legal"][rows], axis=1, bitorder="little")
    bits[:, : moves.VOCABULARY] = bits[:, moves.MIRROR]
    out["legal"][rows] = np.packbits(bits, axis=1, bitorder="little")
    return out


def tokenise(arrays: dict[str, npt.NDArray[Any]], layout: Layout) -> Batch:
    """The tokens of records in a layout (its horizon may be shorter than the records')."""
    black, encoding = arrays["black"], layout.encoding
    count = len(black)
    action = arrays["moves"].astype(np.int64)
    if not encoding.turned:
        action = np.where(black[:, None], moves.TURN[action], action)
    played = np.cumsum(arrays["moves"] != moves.NONE, axis=1)  # [n, h] plies played after a_i
    tokens = np.zeros((count, layout.variables), dtype=np.int64)
    known = np.zeros((count, layout.variables), dtype=bool)
    for segment in layout.segments:
        ply, start = segment.ply, segment.start
        if segment.kind == "s":
            plies = played[:, ply - 1] if ply else np.zeros(count, dtype=np.int64)
            numbers = arrays["number"].astype(np.int64) + (plies + black) // 2
            end = start + len(encoding.slots)
            tokens[:, start:end] = encoding.encode(arrays["states"][:, ply], black, numbers)
            known[:, start:end] = (arrays["known"] >= ply)[:, None]
        elif segment.kind == "a":
            tokens[:, start] = action[:, ply]
            known[:, start] = arrays["known"] > ply
        else:
            value = arrays["values"][:, ply].astype(np.int64)
            tokens[:, start] = np.where(value == UNKNOWN, 0, value)
            known[:, start] = value != UNKNOWN
    legal = np.unpackbits(arrays["legal"], axis=1, bitorder="little")[:, : moves.VOCABULARY].astype(bool)
    if not encoding.turned:
        legal = np.where(black[:, None], legal[:, moves.TURN], legal)
    value = arrays["values"][:, 0].astype(np.int64)
    return Batch(
        torch.from_numpy(tokens),
        torch.from_numpy(known),
        torch.from_numpy(legal),
        torch.from_numpy(np.where(value == UNKNOWN, -1, value)),
        torch.from_numpy(arrays.get("tried", np.zeros(count, dtype=bool))),
    )
