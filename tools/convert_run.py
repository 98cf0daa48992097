"""Convert a run folder with old names of recipe keys and tensors to the new names, in place.

python tools/convert_run.py RUN [RUN ...]

The recipe gets the new keys and a `[decoding]` table with the paper's decoding. The weights keep their bytes and their
order in the file: only the names in its header change. A folder that has the new names already is refused, and so is a
run that uses an option that is gone (norm, mlp, qk_norm, focal). Checkpoints are not converted: a converted run can be
played and started from, not resumed.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import tomllib
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.files import write_whole
from diffusearch.training.recipe import Recipe, recipe_from_dict, recipe_text

TENSORS = (  # old name -> new name
    (r"embedding\.squares", r"embedding.added.action.squares"),
    (r"sight\.lines", r"attack_features.lines"),
    (r"sight\.tell\.(weight|bias)", r"attack_features.out.\1"),
    (r"heads\.linear\.([^.]+)\.(weight|bias)", r"heads.\1.first.out.\2"),
    (r"heads\.source_target\.(.+)", r"heads.action.source_target.\1"),
    (r"heads\.standing\.exposure\.lines", r"heads.action.policy_skip.king_exposure.lines"),
    (r"heads\.standing\.exposure\.leaps", r"heads.action.policy_skip.king_exposure.jumps"),
    (r"heads\.standing\.(squares|pairs|blocked)", r"heads.action.policy_skip.\1"),
    (r"heads\.copy\.([^.]+)\.(weight|bias)", r"heads.\1.copy_gates.\2"),
    (r"heads\.touched", r"residual_state.touched"),
    (r"heads\.rights\.table", r"heads.castling.castling_table.table"),
    (r"root_value\.(weight|bias)", r"root_value.out.\1"),
    (r"grounding\.(.+)", r"residual_state.\1"),
)
GONE = {  # options that are gone, and the only value that a run may have
    ("model", "trunk", "norm"): "layer",
    ("model", "trunk", "mlp"): "gelu",
    ("model", "trunk", "qk_norm"): False,
    ("loss", "focal"): 0.0,
}


def new_name(name: str) -> str:
    """The new name of a tensor; most keep theirs."""
    for old, new in TENSORS:
        if re.fullmatch(old, name):
            return re.sub(old, new, name)
    return name


def convert_recipe(values: dict[str, Any]) -> Recipe:
    """The values of an old recipe -> the same run with the new keys."""
    values = json.loads(json.dumps(values))
    model, loss, data = (values.setdefault(table, {}) for table in ("model", "loss", "data"))
    if "decoding" in values or "board_features" in model or "residual_state" in model:
        raise UserError("the recipe has the new names already: nothing to convert")
    for path, kept in GONE.items():
        table: Any = values
        for key in path[:-1]:
            table = table.get(key, {})
        if (value := table.pop(path[-1], kept)) != kept:
            raise UserError(f"{'.'.join(path)} = {value!r} is gone, and only runs with {kept!r} can be converted")
    sight, standing, exposure = (model.pop(key, 0) for key in ("sight", "standing", "exposure"))
    acts = model.get("paradigm", "s-asa") not in ("s-v", "sa-v") and model.get("head", "vocabulary") != "vocabulary"
    if bool(standing) != bool(exposure) or bool(standing) != (bool(sight) and acts):
        raise UserError(
            f"sight = {sight}, standing = {standing}, exposure = {exposure} are one switch now: "
            "only runs with all of them, or none, can be converted"
        )
    grounded, rights = model.pop("grounded", False), model.pop("rights", False)
    compact = model.get("encoding", "paper") == "compact"
    if bool(rights) != (bool(grounded) and compact):
        raise UserError(
            f"grounded = {grounded} and rights = {rights} are one switch now: "
            "only runs with both, or none, can be converted"
        )
    model |= {"board_features": bool(sight), "residual_state": bool(grounded)}
    if sight:
        model["feature_width"] = sight
    for old, new, table in (("glance", "root_policy", loss), ("growing", "ply_by_ply", loss)):
        if old in table:
            table[new] = table.pop(old)
    if "tried" in data:
        data["random_moves"] = data.pop("tried")
    values["decoding"] = {"order": "confidence", "steps": 20}
    return recipe_from_dict(values)


def convert_weights(content: bytes) -> bytes:
    """A safetensors file with new names: header first, then the old bytes as they were."""
    (length,) = struct.unpack("<Q", content[:8])
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    ordered = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    renamed = {new_name(name): facts for name, facts in ordered}
    if len(renamed) != len(header):
        raise UserError("two tensors would get the same name: this is no old run folder")
    if set(renamed) == set(header):
        raise UserError("the weights have the new names already: nothing to convert")
    text = json.dumps({"__metadata__": metadata, **renamed}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def convert(folder: Path) -> None:
    """Convert one run folder; nothing is written unless both files can be converted."""
    recipe = convert_recipe(tomllib.loads((folder / "recipe.toml").read_text()))
    weights = convert_weights((folder / "weights.safetensors").read_bytes())
    write_whole(folder / "weights.safetensors", weights)
    write_whole(folder / "recipe.toml", recipe_text(recipe))


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in map(Path, sys.argv[1:]):
        try:
            convert(folder)
        except (UserError, OSError, ValueError) as error:
            sys.exit(f"{folder}: {error}")
        print(f"{folder}: converted")


if __name__ == "__main__":
    main()
