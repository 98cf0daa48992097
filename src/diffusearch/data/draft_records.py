"""Draft records on disk: positions with the network's own drafts, their hidden states, and the oracle's answer.

A folder has drafts.json and shards; a shard is a folder of arrays that is written whole. With K drafts a position, N
nodes a draft (tokens/drafts.py), P places and width W of the trunk, M moves:

    root [n, P, W] float16           hidden states of the root
    hidden [n, K, N, P, W] float16   of drafted positions; 0 where there is none, or where the game is over
    root_odds [n] float32            log odds of the root's mover
    odds, log_shares [n, K, N] float32, exists, over [n, K, N] bool   as in inference/backend.py
    priors [n, M] float32            log probabilities of the likeliest moves at the first look; the first K are drafted
    target [n] int16                 place of the oracle's move among them; -1 where it is not there
    wins [n, M] float32              win probability of the mover after each, by the oracle; NaN where it gave no score
    train [n] bool                   whether the position's game is in the training split
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.files import write_whole

FORMAT = 1
FACTS = "drafts.json"
MOVES = 64  # M
NO_MOVE = -1e4  # log probability where a position has fewer moves

Arrays = dict[str, npt.NDArray[Any]]


def is_drafts(folder: Path) -> bool:
    """Whether a folder holds draft records."""
    return (folder / FACTS).is_file()


def begin(folder: Path, facts: dict[str, Any]) -> None:
    """Begin a folder, or go on with one of the same facts: run, weights, labels and settings."""
    facts = {"format": FORMAT, **facts}
    if is_drafts(folder):
        earlier = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        for name in facts:
            if earlier.get(name) != facts[name]:
                raise UserError(
                    f"{folder} was begun with {name} {earlier.get(name)!r}, not {facts[name]!r}: give the same again, "
                    "or another --out"
                )
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FACTS, json.dumps(facts, indent=1).encode())


def shard_folder(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:06d}"


def write_shard(folder: Path, number: int, arrays: Arrays) -> None:
    """Write a shard whole: under another name until it is on disk."""
    place = shard_folder(folder, number)
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, array in arrays.items():
        with (partial / f"{name}.npy").open("wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
    os.replace(partial, place)


class DraftRecords:
    """The draft records of a folder, of the training or the validation split, memory-mapped."""

    horizon, scored = 1, 0  # as records of the network's layout have them; drafts have neither

    def __init__(self, folder: Path, *, train: bool) -> None:
        self.folder = folder
        try:
            self.facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            if self.facts["format"] != FORMAT:
                raise UserError(f"{folder} has draft format {self.facts['format']}, not {FORMAT}: make it again")
            places = sorted(place for place in folder.glob("shard-*") if not place.name.endswith(".partial"))
            self._shards: list[Arrays] = [
                {file.stem: np.load(file, mmap_mode="r") for file in sorted(place.glob("*.npy"))} for place in places
            ]
            chosen = [np.flatnonzero(shard["train"] == train) for shard in self._shards]
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{folder} holds no drafts ({error}): make them with `diffusearch draft`") from None
        self._shard = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
        self._row = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._row)

    def take(self, rows: npt.NDArray[np.int64]) -> Arrays:
        """The arrays of the given rows, in their order."""
        out: Arrays = {}
        for shard in np.unique(self._shard[rows]).tolist():
            here = np.flatnonzero(self._shard[rows] == shard)
            for name, array in self._shards[shard].items():
                if name not in out:
                    out[name] = np.empty((len(rows), *array.shape[1:]), array.dtype)
                out[name][here] = array[self._row[rows[here]]]
        return out
