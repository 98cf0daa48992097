"""A recipe: everything that makes a training run what it is, as dataclasses with a remark for each field.

Defaults are the paper's values. A run folder keeps its recipe resolved, and that file is a valid recipe again.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import tomli_w

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.loss import LossConfig
from diffusearch.diffusion.process import KINDS
from diffusearch.diffusion.schedule import WEIGHTS
from diffusearch.errors import UserError
from diffusearch.model.denoiser import ModelConfig
from diffusearch.tokens.layout import JUDGES


@dataclass(frozen=True)
class ProcessConfig:
    """The noise process (paper, section 4.3)."""

    kind: str = "absorbing"  # "absorbing", "multinomial", "gaussian", "autoregressive" or "direct"
    timesteps: int = 20  # T


@dataclass(frozen=True)
class SourceConfig:
    """One source of records."""

    path: str = ""  # a labelled folder (`diffusearch label`), a Parquet file like it, or a records folder
    weight: float = 1.0  # its share of every batch, relative to the others
    ply: int = 0  # records begin so many plies into each line: an oracle's line has an answer for each of its positions


@dataclass(frozen=True)
class DataConfig:
    """What is read."""

    sources: tuple[SourceConfig, ...] = ()
    validation: str = ""  # records to measure on; empty: the validation split of the first source
    held_out: tuple[str, ...] = ()  # labelled sets, puzzle tables, PGN: records that meet their positions are left out
    cache: str = ""  # where records are replayed to; empty: next to each source
    tried: float = 0.0  # share of records with imagined states that learn the one behind a random legal move instead
    mirror: bool = False  # mirror the files of half of the records in which nobody may castle (compact encoding only)


@dataclass(frozen=True)
class OptimiserConfig:
    """How the weights move."""

    kind: str = "adam"  # "adam" (paper), "adamw" or "muon" (hidden matrices; AdamW for the rest)
    rate: float = 3e-4  # learning rate at the top (paper)
    batch: int = 1024  # records a step (paper)
    micro_batches: int = 1  # pieces of a batch, accumulated one after another or shared out over processes
    epochs: float = 200.0  # passes over the records (paper: at most 200); ignored if steps > 0
    steps: int = 0  # optimiser steps; 0: from epochs
    warmup: int = 0  # steps of linear warm-up
    schedule: str = "cosine"  # after warm-up: "cosine" to zero, "constant", or "decay" (last 20 % linear to zero)
    weight_decay: float = 0.0
    clip: float = 1.0  # gradient norm
    beta2: float = 0.999
    ema: float = 0.0  # decay of the averaged weights; 0 = off


@dataclass(frozen=True)
class WatchConfig:
    """How a run is watched and kept."""

    checkpoint_every: int = 500  # steps; after five minutes without one there is one anyhow
    validate_every: int = 1000  # steps
    validate_records: int = 2048
    patience: int = 0  # validations without improvement before stopping (baselines); 0 = never stop early
    minutes: float = 0.0  # stop cleanly after so much wall time in this call (for runs of equal compute); 0 = no limit


@dataclass(frozen=True)
class Recipe:
    """A training run."""

    name: str = "unnamed"
    seed: int = 0
    bf16: str = "auto"  # "auto": where the hardware has it; "on"; "off"
    threads: int = 0  # CPU threads; 0: torch's choice
    start: str = ""  # a run whose weights are the starting point (same shapes; a shorter horizon may grow)
    horizons: tuple[float, ...] = ()  # mixed horizons: share of batches with h = 1, 2, ...; empty: always the model's h
    model: ModelConfig = field(default_factory=ModelConfig)
    process: ProcessConfig = field(default_factory=ProcessConfig)
    decoding: Decoding = field(default_factory=Decoding)  # how the run is decoded wherever it is used
    loss: LossConfig = field(default_factory=LossConfig)
    data: DataConfig = field(default_factory=DataConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    watch: WatchConfig = field(default_factory=WatchConfig)

    @property
    def trained_horizons(self) -> tuple[int, ...]:
        """The horizons of the records that the model is trained on, ascending."""
        if self.process.kind == "autoregressive":
            return tuple(range(1, self.model.horizon + 1))  # it never sees what lies behind a place
        mixed = {h for h, share in enumerate(self.horizons, 1) if share > 0} or {self.model.horizon}
        if self.loss.glance > 0:
            mixed.add(1)  # the root policy loss: the first move with nothing behind it
        return tuple(sorted(mixed))


def _build(kind: Any, value: Any, where: str) -> Any:
    """Turn plain TOML values into the dataclass or type `kind`; refuse unknown keys and wrong types by name."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise UserError(f"{where} is a table, not {value!r}")
        hints = typing.get_type_hints(kind)
        for key in value:
            if key not in hints:
                raise UserError(f"{where}.{key} is unknown: choose among {', '.join(hints)}".replace("recipe.", ""))
        return kind(**{key: _build(hints[key], item, f"{where}.{key}") for key, item in value.items()})
    origin = typing.get_origin(kind)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} is a list, not {value!r}")
        item_kind = typing.get_args(kind)[0]
        return tuple(_build(item_kind, item, f"{where}[{i}]") for i, item in enumerate(value))
    if origin in (types.UnionType, typing.Union):
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UserError(f"{where.removeprefix('recipe.')} is {kind.__name__}, not {value!r}")
    return value


def recipe_from_dict(values: dict[str, Any]) -> Recipe:
    """A recipe from nested plain values; anything left out has its default."""
    recipe: Recipe = _build(Recipe, values, "recipe")
    _check_numbers(recipe)
    recipe.model.check()
    _check(recipe)
    return recipe


def differs(recipe: Recipe, folder: Path) -> str | None:
    """The first table in which the run in a folder is another training; None if it can go on with the recipe.

    How long, how fast and how closely watched does not matter, nor where records are kept. A folder without a recipe
    has nothing to differ in.
    """
    if not (folder / "recipe.toml").is_file():
        return None
    other = load_recipe(folder / "recipe.toml")
    for name in ("model", "process", "loss", "data", "horizons"):
        ours, theirs = getattr(recipe, name), getattr(other, name)
        if name == "data":
            ours, theirs = (dataclasses.replace(data, cache="") for data in (ours, theirs))
        if ours != theirs:
            return name
    return None


# In words, what a number must be: it stands in the sentence that refuses another one.
_RANGES: dict[str, Callable[[float], bool]] = {
    "at least 0": lambda x: x >= 0,
    "at least 1": lambda x: x >= 1,
    "above 0": lambda x: x > 0,
    "from 0 to 1": lambda x: 0 <= x <= 1,
    "from 0 to below 1": lambda x: 0 <= x < 1,
}
_NUMBERS = {
    "at least 0": "seed threads model.sight optimiser.rate optimiser.steps optimiser.epochs optimiser.warmup "
    "optimiser.weight_decay watch.patience watch.minutes loss.action loss.state loss.changed loss.value loss.focal "
    "loss.raw_move loss.legality loss.glance",
    "at least 1": "model.horizon model.patch model.head_width model.trunk.layers model.trunk.width model.trunk.heads "
    "process.timesteps optimiser.batch optimiser.micro_batches watch.checkpoint_every watch.validate_every "
    "watch.validate_records",
    "above 0": "optimiser.clip",
    "from 0 to 1": "data.tried loss.full_noise loss.growing",
    "from 0 to below 1": "model.trunk.dropout optimiser.ema optimiser.beta2",
}


def _check_numbers(recipe: Recipe) -> None:
    """Refuse numbers that nothing can be made of."""
    asked = [(words, name, attrgetter(name)(recipe)) for words, names in _NUMBERS.items() for name in names.split()]
    for index, source in enumerate(recipe.data.sources):
        asked += [("above 0", f"data.sources[{index}].weight", source.weight)]
        asked += [("at least 0", f"data.sources[{index}].ply", source.ply)]
    for words, name, value in asked:
        if not (_RANGES[words](value) and math.isfinite(value)):
            raise UserError(f"{name} is {words}, not {value}")


def _check(recipe: Recipe) -> None:
    """Refuse what would fail or mislead later in the run."""
    model, process, optimiser = recipe.model, recipe.process, recipe.optimiser
    shares = recipe.horizons
    if len(shares) > model.horizon:
        raise UserError(f"horizons has {len(shares)} shares, but the model's horizon is {model.horizon}")
    if shares and (min(shares) < 0 or sum(shares) <= 0):
        raise UserError(f"horizons are shares of batches, at least one above 0, not {list(shares)}")
    choices = {
        "bf16": (recipe.bf16, ("auto", "on", "off")),
        "process.kind": (process.kind, KINDS),
        "loss.time_weight": (recipe.loss.time_weight, WEIGHTS),
        "optimiser.kind": (optimiser.kind, ("adam", "adamw", "muon")),
        "optimiser.schedule": (optimiser.schedule, ("cosine", "constant", "decay")),
    }
    for name, (value, allowed) in choices.items():
        if value not in allowed:
            raise UserError(f"{name} = {value!r} is unknown: choose one of {', '.join(allowed)}")
    if recipe.data.mirror and model.encoding != "compact":
        raise UserError(f"data.mirror = true needs model.encoding = 'compact', not {model.encoding!r}")
    if process.kind == "autoregressive" and model.trunk.attention != "causal":
        raise UserError(
            f"process.kind = 'autoregressive' needs model.trunk.attention = 'causal', not {model.trunk.attention!r}"
        )
    if recipe.data.tried and process.kind not in ("absorbing", "direct"):
        raise UserError(f"data.tried holds a move fixed, which process.kind = {process.kind!r} cannot: use 'absorbing'")
    if process.kind in ("multinomial", "gaussian") and (model.root_value or model.paradigm in JUDGES):
        # values are read off a record whose future is masked, and these processes know no mask
        raise UserError(f"process.kind = {process.kind!r} cannot learn root values: use 'absorbing' or 'direct'")


def load_recipe(path: Path, overrides: tuple[str, ...] = ()) -> Recipe:
    """Read a TOML recipe; overrides are `dotted.key=value` with a TOML value."""
    try:
        values = tomllib.loads(path.read_text())
    except OSError as error:
        raise UserError(f"cannot read the recipe {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"the recipe {path} is no valid TOML: {error}") from None
    for override in overrides:
        key, sign, text = override.partition("=")
        if not sign:
            raise UserError(f"--set takes key=value, not {override!r}, e.g. --set optimiser.rate=1e-3")
        try:
            value = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError:
            value = text  # a bare word is a string
        place = values
        *tables, last = key.split(".")
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise UserError(f"--set {key}: {table} is no table of the recipe")
        place[last] = value
    return recipe_from_dict(values)


def recipe_text(recipe: Recipe) -> str:
    """The resolved recipe as TOML."""
    return tomli_w.dumps(_plain(dataclasses.asdict(recipe)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
