"""Which graphs a run has, the names of their files, and what they say of themselves. Play reads it without onnx."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.tokens.layout import JUDGES
from diffusearch.training.recipe import Recipe

FORMAT = 1  # another number whenever inputs, outputs or their meaning change
KEY = "diffusearch"  # of the facts in a graph's metadata
# The first blocks of a trunk with 8-bit weights that keep floats. An error in the first ones passes through all later
# ones, and priors and values show it; predicted tokens are arg-maxima, most of them nearly certain (docs/LOG.md).
FLOAT_BLOCKS = {"evaluate": 2, "value": 2, "predict": 0, "denoise": 0}
_INT8 = b"MatMulInteger"  # the operator that only graphs with 8-bit weights have
_AGAIN = "make the graphs anew with `diffusearch export --graphs`, or choose backend=torch"


def graph_names(recipe: Recipe) -> tuple[str, ...]:
    """The graphs of a run: evaluate always, the others where there is something for them to compute."""
    if reason := refusal(recipe):
        raise UserError(f"the run {recipe.name!r} {reason}: it is played with backend=torch")
    model = recipe.model
    if model.paradigm in JUDGES:
        return ("evaluate",)
    whole = model.layout
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


def check_kind(
    path: Path, name: str, recipe: Recipe, inputs: Sequence[str], outputs: Sequence[str], *, int8: bool
) -> None:
    """Refuse another graph of the same run under this name.

    The facts of all graphs of a run are the same: a graph is told by what it takes and gives, and by its operators.
    """
    marks = {"evaluate": "moves", "predict": "states", "denoise": "record", "revise": "scores", "value": "value"}
    found = next((name for name, mark in marks.items() if mark in (inputs if mark == "record" else outputs)), "unknown")
    if found == "value" and recipe.model.paradigm in JUDGES:
        found = "evaluate"  # their only graph
    small = int8 and recipe.model.trunk.layers > FLOAT_BLOCKS.get(name, recipe.model.trunk.layers)
    if (found, _INT8 in path.read_bytes()) != (name, small):
        other = f"the graph {found!r}" if found != name else f"{found!r} {'without' if small else 'with'} 8-bit weights"
        raise UserError(f"{path} holds {other}, not what its name says: {_AGAIN}")


def facts(recipe: Recipe, weights: str) -> str:
    """What a graph says of itself; `weights` is the SHA-256 of the weights' file."""
    model = json.dumps([asdict(recipe.model), recipe.process.kind, recipe.trained_horizons], sort_keys=True)
    shape = hashlib.sha256(model.encode()).hexdigest()
    return json.dumps({"format": FORMAT, "weights": weights, "model": shape}, sort_keys=True)


def check_facts(found: str | None, wanted: str, path: Path) -> None:
    """Refuse a graph of another format, of other weights or of another recipe."""
    if found == wanted:
        return
    try:
        known, own = json.loads(found or ""), json.loads(wanted)
        version = known["format"]
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is no graph of diffusearch: {_AGAIN}") from None
    if version != FORMAT:
        raise UserError(f"{path} has the format {version}, and this version reads {FORMAT}: {_AGAIN}")
    other = "other weights" if known.get("weights") != own["weights"] else "another recipe"
    raise UserError(f"{path} was made from {other}: {_AGAIN}")
