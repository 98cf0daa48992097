"""The tables of a recipe that belong to training: noise process, data, optimiser and reports.

Each field has its type or choices, its range and a remark. `diffusearch.training.building` checks values against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from diffusearch.ranges import Range, Share

Decay = Annotated[float, Range(low=0, below=1)]
Steps = Annotated[int, Range(low=0, high=1_000_000_000)]
Count = Annotated[int, Range(low=1, high=1_000_000_000)]


RANDOM_NOISE = ("multinomial", "gaussian")  # kinds of process whose noise is drawn at random: they have no mask


@dataclass(frozen=True)
class ProcessConfig:
    """`[process]`: the noise process (paper, section 4.3)."""

    kind: Literal["absorbing", "direct", "multinomial", "gaussian", "autoregressive"] = "absorbing"
    timesteps: Annotated[int, Range(low=1, high=10_000)] = 20  # T


@dataclass(frozen=True)
class SourceConfig:
    """One entry of `data.sources`."""

    path: str = ""  # a labelled folder (`diffusearch label`), a Parquet file like it, or a records folder
    weight: Annotated[float, Range(above=0, high=1e6)] = 1.0  # its share of every batch, relative to the others
    ply: Annotated[int, Range(low=0, high=256)] = 0  # records begin this many plies into each line of the oracle
    games: Annotated[int, Range(low=0, high=1_000_000_000)] = 0  # train on the first so many games; 0: on all


@dataclass(frozen=True)
class DataConfig:
    """`[data]`: the records to train and to validate on."""

    sources: tuple[SourceConfig, ...] = ()
    validation: str = ""  # validate on this whole file or folder; empty: the validation split of the first source
    held_out: tuple[str, ...] = ()  # labelled sets, puzzle tables, PGN: records that meet their positions are left out
    cache: str = ""  # folder for replayed records; empty: next to each source
    random_moves: Share = 0.0  # share of records with future states whose first move is replaced by a random legal one
    mirror: bool = False  # mirror left to right half of the records without castling rights (compact encoding only)


@dataclass(frozen=True)
class OptimiserConfig:
    """`[optimiser]`: optimiser, learning rate and length of the training."""

    kind: Literal["adam", "adamw", "muon"] = "adam"  # "adam": paper; "muon": matrices of the trunk, AdamW for the rest
    rate: Annotated[float, Range(low=0, high=1000)] = 3e-4  # highest learning rate (paper)
    batch: Annotated[int, Range(low=1, high=1_048_576)] = 1024  # records per step (paper)
    micro_batches: Annotated[int, Range(low=1, high=65_536)] = 1  # parts of a batch; processes share them
    epochs: Annotated[float, Range(low=0, high=1e6)] = 200.0  # passes over the records (paper: at most 200)
    steps: Steps = 0  # optimiser steps; 0: computed from epochs
    warmup: Steps = 0  # steps of linear warm-up
    schedule: Literal["cosine", "constant", "decay"] = "cosine"  # after warm-up; "decay": last 20 % linear to zero
    weight_decay: Annotated[float, Range(low=0, high=1000)] = 0.0
    clip: Annotated[float, Range(above=0, high=1e12)] = 1.0  # largest norm of the gradient
    beta2: Decay = 0.999
    ema: Decay = 0.0  # decay of the averaged weights; 0: no average


@dataclass(frozen=True)
class WatchConfig:
    """`[watch]`: how often a run saves, validates and stops."""

    checkpoint_every: Count = 500  # steps; there is also a checkpoint after five minutes without one
    validate_every: Count = 1000  # steps
    validate_records: Count = 2048  # records of the validation split; a file in data.validation is used whole
    patience: Steps = 0  # stop after this many validations without improvement; 0: never
    minutes: Annotated[float, Range(low=0, high=1e8)] = 0.0  # stop after this much wall time in one call; 0: no limit
