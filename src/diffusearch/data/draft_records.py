"""Draft records on disk: positions with the network's own drafts, their hidden states, and the oracle's answer.

A folder has drafts.json and shards; a shard is a folder of arrays that is written whole. drafts.json has what decides
the drafts, the number of positions and, at the end, `"complete": true`: half a folder is not trained on. With K drafts
a position, N nodes a draft (tokens/drafts.py), P places and width W of the trunk, M moves:

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
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.files import put_in_place, write_whole

FORMAT = 1
FACTS = "drafts.json"
MOVES = 64  # M
NO_MOVE = -1e4  # log probability where a position has fewer moves
_MAPPED = 4  # shards of a folder that are memory-mapped at a time: each array of one keeps a file open

Arrays = dict[str, npt.NDArray[Any]]


def is_drafts(folder: Path) -> bool:
    """Whether a folder holds draft records."""
    return (folder / FACTS).is_file()


def begin(folder: Path, facts: dict[str, Any], positions: int) -> None:
    """Begin a folder for so many positions, or go on with one of the same facts: run, weights, labels and settings."""
    facts = {"format": FORMAT, **facts}
    if is_drafts(folder):
        earlier = _read_facts(folder)
        for name in facts:
            if earlier.get(name) != facts[name]:
                raise UserError(
                    f"{folder} was begun with {name} {earlier.get(name)!r}, not {facts[name]!r}: give the same again, "
                    "or another --out"
                )
        return
    _write_facts(folder, facts | {"positions": positions, "complete": False})


def end(folder: Path, positions: int) -> None:
    """Note that all positions of a folder are there."""
    _write_facts(folder, _read_facts(folder) | {"positions": positions, "complete": True})


def _write_facts(folder: Path, facts: dict[str, Any]) -> None:
    write_whole(folder / FACTS, json.dumps(facts, indent=1).encode())


def _read_facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{folder} holds no drafts: make them with `diffusearch draft`") from None
    except OSError as error:
        raise UserError(f"{folder / FACTS} cannot be read ({error.strerror}): check that it may be read") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{folder / FACTS} is damaged ({error}): make the drafts again, in another folder") from None
    if not isinstance(facts, dict):
        raise UserError(f"{folder / FACTS} is damaged ({facts!r:.40}): make the drafts again, in another folder")
    return facts


def shard_folder(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:06d}"


def write_shard(folder: Path, number: int, arrays: Arrays) -> None:
    """Write a shard whole: under another name until it is on disk. The folder must be locked."""
    place = shard_folder(folder, number)
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        for name, array in arrays.items():
            with (partial / f"{name}.npy").open("wb") as file:
                np.save(file, array)
                file.flush()
                os.fsync(file.fileno())
        put_in_place(partial, place)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise UserError(
            f"{place} cannot be written ({error.strerror}): free some space and run the same command again"
        ) from error


class DraftRecords:
    """The draft records of a folder. Arrays are memory-mapped where rows are taken, a few shards at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.facts = folder, _read_facts(folder)
        if self.facts.get("format") != FORMAT:
            raise UserError(f"{folder} has draft format {self.facts.get('format')}, not {FORMAT}: make it again")
        lacking = [name for name in ("weights", "drafts", "depth") if name not in self.facts]
        if lacking:
            raise UserError(f"{folder / FACTS} lacks {', '.join(lacking)}: make the drafts again, in another folder")
        places = sorted(place for place in folder.glob("shard-*") if not place.name.endswith(".partial"))
        train = [_array(place / "train.npy", None) for place in places]
        held, wanted = sum(map(len, train)), self.facts.get("positions", "an unknown number of")
        if not self.facts.get("complete") or held != wanted:
            raise UserError(
                f"{folder} holds {held} of {wanted} positions and is not complete: run the same command again "
                "(`diffusearch draft`)"
            )
        shards = lru_cache(maxsize=_MAPPED)(_shard)
        self.train = DraftSplit(folder, shards, places, [np.flatnonzero(one) for one in train])
        self.validation = DraftSplit(folder, shards, places, [np.flatnonzero(~one) for one in train])


class DraftSplit:
    """The training or the validation split of draft records."""

    horizon, scored = 1, 0  # as records of the network's layout have them; drafts have neither

    def __init__(
        self,
        folder: Path,
        shards: Callable[[Path], Arrays],
        places: Sequence[Path],
        chosen: Sequence[npt.NDArray[np.int64]],
    ) -> None:
        """`chosen` are the rows of the split in each shard; `shards` maps a shard."""
        self.folder, self._shards, self._places = folder, shards, places
        self._shard = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
        self._row = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._row)

    def take(self, rows: npt.NDArray[np.int64]) -> Arrays:
        """The arrays of the given rows, in their order."""
        out: Arrays = {}
        for shard in np.unique(self._shard[rows]).tolist():
            here = np.flatnonzero(self._shard[rows] == shard)
            for name, array in self._shards(self._places[shard]).items():
                if name not in out:
                    out[name] = np.empty((len(rows), *array.shape[1:]), array.dtype)
                out[name][here] = array[self._row[rows[here]]]
        return out


def _shard(place: Path) -> Arrays:
    """The arrays of a shard, memory-mapped."""
    return {file.stem: _array(file, "r") for file in sorted(place.glob("*.npy"))}


def _array(file: Path, mode: Literal["r"] | None) -> npt.NDArray[Any]:
    """An array on disk: read, or memory-mapped with mode "r"."""
    try:
        found: npt.NDArray[Any] = np.load(file, mmap_mode=mode)
    except OSError as error:
        words = "check that it may be read, and the limit of open files (`ulimit -n`)"
        raise UserError(f"{file} cannot be read ({error.strerror or error}): {words}") from None
    except (ValueError, EOFError) as error:
        raise UserError(
            f"{file} is damaged ({error}): delete {file.parent} and run the same `diffusearch draft` again"
        ) from None
    return found
