"""Batches of records: which rows each training step reads, and their tokens in a layout.

The order is a pure function of (seed, step). So a resumed run continues with the rows that an unbroken run would read,
and several processes can read disjoint parts of one batch. Records are shuffled on disk; each epoch visits blocks of
them in a new order, so that reading stays sequential on data larger than memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.tokens import moves, states

_BLOCK = 512  # records of a block


def source_rows(count: int, start: int, size: int, seed: Sequence[int]) -> npt.NDArray[np.int64]:
    """The rows number start .. start+size of an endless stream that visits `count` records once an epoch."""
    out = np.empty(size, dtype=np.int64)
    blocks = -(-count // _BLOCK)
    filled = 0
    while filled < size:
        epoch, offset = divmod(start + filled, count)
        generator = np.random.default_rng([*seed, epoch])
        order = generator.permutation(blocks)
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


class Source(Protocol):
    """Rows of arrays: records, or draft records."""

    folder: Path
    horizon: int
    scored: int

    def __len__(self) -> int: ...

    def take(self, rows: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the given rows."""
        ...


class Mixture:
    """Several record sources, each with a share of every batch."""

    def __init__(self, sources: Sequence[Source], weights: Sequence[float], seed: int) -> None:
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
        scored = max(source.scored for source in self.sources)
        parts = [_widened(part, scored) for part in parts]
        cut = {"states", "moves", "values"}
        return {
            name: np.concatenate([part[name][:, :horizon] if name in cut else part[name] for part in parts])
            for name in parts[0]
        }


def _widened(part: dict[str, npt.NDArray[Any]], scored: int) -> dict[str, npt.NDArray[Any]]:
    """The same arrays with room for `scored` scored moves a record."""
    if scored == 0:
        return part
    count = len(part["known"])
    wide_moves = np.full((count, scored), moves.NONE, np.uint16)
    wide_wins = np.zeros((count, scored), np.float32)
    if "scored_moves" in part:
        width = part["scored_moves"].shape[1]
        wide_moves[:, :width], wide_wins[:, :width] = part["scored_moves"], part["scored_wins"]
    return {**part, "scored_moves": wide_moves, "scored_wins": wide_wins}


def mirrored(arrays: dict[str, npt.NDArray[Any]], chosen: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
    """Mirror the files (a to h) of the chosen records in which nobody may castle; the rules are symmetric there."""
    rows = chosen & (arrays["states"][:, 0, states.CASTLING] == 0)
    out = {name: np.array(array) for name, array in arrays.items()}
    out["states"][rows] = states.looking_glass(out["states"][rows])
    for name in out.keys() & {"moves", "scored_moves"}:
        out[name][rows] = moves.MIRROR[out[name][rows]]
    bits = np.unpackbits(out["legal"][rows], axis=1, bitorder="little")
    bits[:, : moves.VOCABULARY] = bits[:, moves.MIRROR]
    out["legal"][rows] = np.packbits(bits, axis=1, bitorder="little")
    return out
