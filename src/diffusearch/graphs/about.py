"""Which graphs a run has, the names of their files, and what they say of themselves. Play reads it without onnx."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.tokens.layout import JUDGES, layout
from diffusearch.training.recipe import Recipe

FORMAT = 1  # another number whenever inputs, outputs or their meaning change
KEY = "diffusearch"  # of the facts in a graph's metadata


def graph_names(recipe: Recipe) -> tuple[str, ...]:
    """The graphs of a run: evaluate always, the others where there is something for them to compute."""
    if reason := refusal(recipe):
        raise UserError(f"the run {recipe.name!r} {reason}: it is played with backend=torch")
    model = recipe.model
    if model.paradigm in JUDGES:
        return ("evaluate",)
    whole = layout(model.paradigm, model.horizon, model.encoding, model.patch)
    predicts = whole.segment("a", 0) is not None and whole.segment("s", 1) is not None
    asked = {
        "evaluate": True,
        "value": model.root_value and model.trunk.attention == "prefix",  # the root's value without a future
        "predict": predicts,
        "denoise": True,
        "revise": model.draft_reader,
    }
    return tuple(name for name, there in asked.items() if there)


def refusal(recipe: Recipe) -> str | None:
    """Why a run cannot have graphs; None if it can."""
    kind, model = recipe.process.kind, recipe.model
    if kind not in ("absorbing", "direct") or model.trunk.attention == "causal":
        return f"({kind}) has no mask to start from"
    return "has self-conditioning, which no graph computes" if model.self_conditioning else None


def graph_file(folder: Path, name: str, *, int8: bool = False) -> Path:
    """The file of a graph; those with a trunk have a second one, with 8-bit weights there."""
    return folder / (f"{name}-int8.onnx" if int8 and name != "revise" else f"{name}.onnx")


def facts(recipe: Recipe, weights: str) -> str:
    """What a graph says of itself; `weights` is the SHA-256 of the weights' file."""
    model = json.dumps([asdict(recipe.model), recipe.process.kind, recipe.trained_horizons], sort_keys=True)
    shape = hashlib.sha256(model.encode()).hexdigest()
    return json.dumps({"format": FORMAT, "weights": weights, "model": shape}, sort_keys=True)


def check_facts(found: str | None, wanted: str, path: Path) -> None:
    """Refuse a graph of another format, of other weights or of another recipe."""
    if found == wanted:
        return
    again = "make the graphs anew with `diffusearch export --graphs`, or choose backend=torch"
    try:
        known, own = json.loads(found or ""), json.loads(wanted)
        version = known["format"]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is no graph of diffusearch: {again}") from None
    if version != FORMAT:
        raise UserError(f"{path} has the format {version}, and this version reads {FORMAT}: {again}")
    other = "other weights" if known.get("weights") != own["weights"] else "another recipe"
    raise UserError(f"{path} was made from {other}: {again}")
