"""tools/convert_run.py: old names become new ones, the bytes of the weights stay, and everything else is refused."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import torch
from safetensors.torch import save_file

from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.recipe import recipe_from_dict

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TRUNK = {"layers": 1, "width": 32, "heads": 2, "attention": "prefix", "norm": "layer", "mlp": "gelu", "qk_norm": False}
OLD: dict[str, Any] = {
    "name": "old",
    "model": {
        "paradigm": "s-asa", "horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "root_value": True,
        "standing": True, "exposure": True, "sight": 4, "grounded": True, "rights": True, "trunk": TRUNK,
    },
    "loss": {"focal": 0.0, "glance": 1.0, "growing": 0.6},
    "data": {"tried": 0.3},
}  # fmt: skip
NEW_MODEL = {"board_features": True, "feature_width": 4, "residual_state": True}
# new -> old: how an old run named its tensors
OLD_NAMES = {
    "embedding.added.action.squares": "embedding.squares",
    "attack_features.lines": "sight.lines",
    "attack_features.out.": "sight.tell.",
    "heads.action.source_target.": "heads.source_target.",
    "heads.action.policy_skip.king_exposure.lines": "heads.standing.exposure.lines",
    "heads.action.policy_skip.king_exposure.jumps": "heads.standing.exposure.leaps",
    "heads.action.policy_skip.": "heads.standing.",
    "heads.castling.castling_table.": "heads.rights.",
    "residual_state.touched": "heads.touched",
    "residual_state.": "grounding.",
    "root_value.out.": "root_value.",
}


def old_name(name: str) -> str:
    for new, old in OLD_NAMES.items():
        if name.startswith(new):
            return old + name.removeprefix(new)
    kind, _, rest = name.removeprefix("heads.").partition(".")
    if name.startswith("heads.") and rest.startswith("first.out."):
        return f"heads.linear.{kind}.{rest.removeprefix('first.out.')}"
    if name.startswith("heads.") and rest.startswith("copy_gates."):
        return f"heads.copy.{kind}.{rest.removeprefix('copy_gates.')}"
    return name


def old_run(folder: Path, **changes: Any) -> dict[str, torch.Tensor]:
    """Write an old run folder with random weights in fp16; returns them by their new names."""
    values = json.loads(json.dumps(OLD))
    for key, value in changes.items():
        table, _, name = key.partition("_")
        values[table][name] = value
    gone = ("standing", "exposure", "sight", "grounded", "rights", "norm", "mlp", "qk_norm")
    plain = {key: value for key, value in OLD["model"].items() if key not in gone}
    plain["trunk"] = {key: value for key, value in TRUNK.items() if key not in gone}
    torch.manual_seed(0)
    net = Denoiser(recipe_from_dict({"model": plain | NEW_MODEL}).model)
    weights = {name: torch.randn_like(w).to(torch.float16) for name, w in net.named_parameters()}
    folder.mkdir()
    (folder / "recipe.toml").write_text(tomli_w.dumps(values))
    metadata = {"format": "diffusearch-1", "about": "{}"}
    save_file({old_name(name): w for name, w in weights.items()}, folder / "weights.safetensors", metadata=metadata)
    return weights


def convert(*folders: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "tools/convert_run.py", *folders], capture_output=True, text=True)


def body(folder: Path) -> bytes:
    content = (folder / "weights.safetensors").read_bytes()
    return content[8 + struct.unpack("<Q", content[:8])[0] :]


def test_an_old_run_gets_the_new_names(tmp_path: Path) -> None:
    weights = old_run(tmp_path / "run")
    before = body(tmp_path / "run")
    done = convert(tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert body(tmp_path / "run") == before
    run = Run.load(tmp_path / "run")
    found = dict(run.net.named_parameters())
    assert all(torch.equal(found[name], weight.float()) for name, weight in weights.items())
    assert run.recipe.loss.root_policy == 1.0
    assert run.recipe.loss.ply_by_ply == 0.6
    assert run.recipe.data.random_moves == 0.3
    decoding = tomllib.loads((tmp_path / "run" / "recipe.toml").read_text())["decoding"]
    assert (decoding["order"], decoding["steps"]) == ("confidence", 20)
    again = convert(tmp_path / "run")
    assert again.returncode == 1
    assert "new names already" in again.stderr
    assert body(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loss_focal": 1.0}, "loss.focal"),
        ({"model_exposure": False}, "one switch"),
        ({"model_sight": 0}, "one switch"),
        ({"model_rights": False}, "one switch"),
    ],
)
def test_what_the_new_names_cannot_say_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    old_run(tmp_path / "run", **changes)
    files = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    done = convert(tmp_path / "run")
    assert done.returncode == 1
    assert words in done.stderr
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
