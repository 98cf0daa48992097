"""A recipe: everything that defines a training run, as dataclasses with a remark for each field.

Defaults are the paper's values. A run folder keeps its recipe resolved (every key, no base), and that file is a valid
recipe again.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.loss_config import LossConfig
from diffusearch.errors import UserError
from diffusearch.model.config import ModelConfig
from diffusearch.ranges import Range, Weight
from diffusearch.tokens.layout import JUDGES, PARADIGMS, Layout
from diffusearch.training.building import build
from diffusearch.training.recipe_file import read_recipe_file
from diffusearch.training.tables import RANDOM_NOISE, DataConfig, OptimiserConfig, ProcessConfig, WatchConfig


@dataclass(frozen=True)
class Recipe:
    """A training run."""

    name: str = "unnamed"
    seed: Annotated[int, Range(low=0, high=2**63 - 1)] = 0
    bf16: Literal["auto", "on", "off"] = "auto"  # "auto": where the hardware computes it
    threads: Annotated[int, Range(low=0, high=4096)] = 0  # CPU threads; 0: torch's choice
    start: str = ""  # a run whose weights are the starting point (same shapes; the horizon may be longer)
    horizons: tuple[Weight, ...] = ()  # shares of records with h = 1, 2, ...; empty: always the model's h
    horizons_by: Literal["batch", "record"] = "batch"  # whether h is drawn for a whole batch or for each record (paper)
    model: ModelConfig = field(default_factory=ModelConfig)
    process: ProcessConfig = field(default_factory=ProcessConfig)
    decoding: Decoding = field(default_factory=Decoding)  # how agent `diffusearch` decodes the run
    loss: LossConfig = field(default_factory=LossConfig)
    data: DataConfig = field(default_factory=DataConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    watch: WatchConfig = field(default_factory=WatchConfig)

    @property
    def trained_horizons(self) -> tuple[int, ...]:
        """The horizons of the records that the model is trained on, ascending."""
        if not PARADIGMS[self.model.paradigm][1]:
            return (1,)  # a record of one ply, whatever model.horizon says
        if self.process.kind == "autoregressive":
            return tuple(range(1, self.model.horizon + 1))  # a place never depends on later places
        mixed = {h for h, share in enumerate(self.horizons, 1) if share > 0} or {self.model.horizon}
        if self.loss.root_policy > 0:
            mixed.add(1)  # the root policy loss: the first move with no future after it
        return tuple(sorted(mixed))

    def trained_layout(self, at_least: int = 1) -> Layout:
        """The layout of the shortest trained horizon >= `at_least`, of a whole record if there is none."""
        whole = self.model.layout
        found = [horizon for horizon in self.trained_horizons if horizon >= at_least]
        return whole.truncated(min(found, default=whole.horizon))


def recipe_from_dict(values: dict[str, Any]) -> Recipe:
    """A recipe from nested plain values; a key that is left out has its default."""
    recipe: Recipe = build(Recipe, values)
    recipe.model.check()
    _check(recipe)
    return recipe


def load_recipe(path: Path, overrides: tuple[str, ...] = ()) -> Recipe:
    """Read a TOML recipe with its bases; overrides are `dotted.key=value` with a TOML value."""
    return recipe_from_dict(read_recipe_file(path, overrides))


def recipe_text(recipe: Recipe) -> str:
    """The resolved recipe as TOML."""
    return tomli_w.dumps(_plain(dataclasses.asdict(recipe)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def differs(recipe: Recipe, folder: Path) -> str | None:
    """The first table in which the run in a folder is another training; None if it can go on with the recipe.

    Length, speed, decoding and reports of the training may differ, and the folder of the replayed records. A folder
    without a recipe differs in nothing.
    """
    if not (folder / "recipe.toml").is_file():
        return None
    other = load_recipe(folder / "recipe.toml")
    for name in ("model", "process", "loss", "data", "horizons", "horizons_by"):
        ours, theirs = getattr(recipe, name), getattr(other, name)
        if name == "data":
            ours, theirs = (dataclasses.replace(data, cache="") for data in (ours, theirs))
        if ours != theirs:
            return name
    return None


def _check(recipe: Recipe) -> None:
    """Refuse combinations of values that would fail or mislead later in the run."""
    model, process = recipe.model, recipe.process
    shares = recipe.horizons
    if len(shares) > model.horizon:
        raise UserError(f"horizons has {len(shares)} shares, but the model's horizon is {model.horizon}")
    if shares and sum(shares) <= 0:
        raise UserError(f"horizons must have a share above 0, not {list(shares)}")
    if recipe.data.mirror and model.encoding != "compact":
        raise UserError(f"data.mirror = true needs model.encoding = 'compact', not {model.encoding!r}")
    if process.kind == "autoregressive" and model.trunk.attention != "causal":
        raise UserError(
            f"process.kind = 'autoregressive' needs model.trunk.attention = 'causal', not {model.trunk.attention!r}"
        )
    if recipe.data.random_moves and process.kind not in ("absorbing", "direct"):
        raise UserError(
            f"data.random_moves keeps a move clean, which process.kind = {process.kind!r} cannot: use 'absorbing'"
        )
    if process.kind in RANDOM_NOISE and (model.root_value or model.paradigm in JUDGES):
        # values are read from a record whose future is masked, and these processes have no mask
        raise UserError(f"process.kind = {process.kind!r} cannot learn root values: use 'absorbing' or 'direct'")
    if model.self_conditioning and process.kind != "absorbing":
        # the other processes train no estimate, or decode in one call, which has none
        raise UserError(f"model.self_conditioning = true needs process.kind = 'absorbing', not {process.kind!r}")
    if recipe.decoding.drafts and not model.draft_reader:
        raise UserError(
            f"decoding.drafts = {recipe.decoding.drafts} needs model.draft_reader = true: set it, or leave drafts out"
        )
    if recipe.decoding.cache:
        model.check_cache()
