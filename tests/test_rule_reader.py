"""tools/rule_reader.py: the draft reader becomes the rule, and the rest of the network stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.checkpoint import load_tensors, save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text

pytestmark = pytest.mark.slow

TOOL = Path(__file__).parents[1] / "tools" / "rule_reader.py"


def write_run(folder: Path, *, reader: bool) -> Path:
    trunk = {"layers": 1, "width": 16, "heads": 2, "attention": "prefix"}
    model = {"horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "root_value": True, "trunk": trunk}
    recipe = recipe_from_dict({"name": "tiny", "model": model | {"draft_reader": reader}})
    folder.mkdir()
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        weights = {name: torch.randn_like(p) for name, p in Denoiser(recipe.model).named_parameters()}
    save_tensors(folder / "weights.safetensors", weights, {"step": 7})
    return folder


def run_tool(*words: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True)


def test_only_the_reader_changes_and_it_is_the_rule(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", reader=True)
    done = run_tool(run, tmp_path / "rule")
    assert done.returncode == 0, done.stderr
    before, after = (load_tensors(folder / "weights.safetensors") for folder in (run, tmp_path / "rule"))
    assert after[1]["step"] == 7
    assert before[0].keys() == after[0].keys()
    for name, weights in after[0].items():
        assert torch.equal(weights, before[0][name]) is not name.startswith("draft_reader.")
    weight, log_temperature, _ = after[0]["draft_reader.rule"].tolist()
    assert weight == 16.0
    assert log_temperature == pytest.approx(-1.897, abs=1e-3)
    assert not after[0]["draft_reader.correction.weight"].any()  # squares correct nothing
    assert Run.load(tmp_path / "rule").reads_drafts  # its graphs are those of its own weights


def test_a_run_without_a_reader_is_refused(tmp_path: Path) -> None:
    done = run_tool(write_run(tmp_path / "run", reader=False), tmp_path / "rule")
    assert done.returncode == 1
    assert "draft_reader = true" in done.stderr
    assert not (tmp_path / "rule").exists()
