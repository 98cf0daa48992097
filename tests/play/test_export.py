"""Export: the ONNX file and the graphs say what torch says, and what does not agree is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.inference.agreement import noised_records, positions
from diffusearch.inference.roots import given_variables
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser
from diffusearch.play.export import check_onnx, export_onnx
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text


def untrained(folder: Path, model: dict[str, Any]) -> Path:
    """A run folder with weights from a seed."""
    recipe = recipe_from_dict({"name": "tiny", "model": model})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
        for name, parameter in net.named_parameters():
            if name.startswith(("attack_features.lines", "heads.action.policy_skip.")):
                nn.init.normal_(parameter, std=0.3)
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {})
    return folder


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shape of the packaged model in small: everything that it has, and nothing that starts without effect."""
    trunk = {"layers": 1, "width": 32, "heads": 2, "attention": "prefix"}
    model = {"horizon": 2, "encoding": "compact", "patch": 8, "head": "squares", "root_value": True, "trunk": trunk}
    model |= {"residual_state": True, "board_features": True, "feature_width": 4}
    return untrained(tmp_path_factory.mktemp("small"), model)


@pytest.fixture(scope="module")
def verb(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The verb as people call it, which also checks what it has made: the file, and how it ended."""
    path = tmp_path_factory.mktemp("onnx") / "tiny.onnx"
    command = [sys.executable, "-m", "diffusearch", "export", "--onnx", str(path), "--weights", str(small_run)]
    return path, subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def exported(verb: tuple[Path, subprocess.CompletedProcess[str]]) -> Path:
    path, done = verb
    assert done.returncode == 0, done.stderr
    return path


def test_the_verb_prints_only_its_own_words(verb: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    path, done = verb
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "export: reading the weights"
    assert done.stdout.splitlines()[-1].startswith(f"{path}: 100 positions, ")


def test_it_agrees_with_torch_on_a_hundred_positions(small_run: Path, exported: Path) -> None:
    found = check_onnx(Run.load(small_run, "torch"), exported, 100, seed=5)
    assert found.positions == 100
    assert found.difference < 1e-4
    assert found.same > 0.9999


def test_the_file_tells_its_layout(small_run: Path, exported: Path) -> None:
    run = Run.load(small_run)
    session = onnxruntime.InferenceSession(str(exported))
    facts = json.loads(session.get_modelmeta().custom_metadata_map["diffusearch"])
    assert (facts["paradigm"], facts["horizon"], facts["encoding"]) == ("s-asa", 2, "compact")
    assert facts["given"] == run.layout.given_variables
    assert len(facts["types"]) == len(facts["masks"]) == run.layout.variables
    names = [output.name for output in session.get_outputs()]
    assert names == [*facts["outputs"], "root_value"]
    # a caller that knows only the file finds the logits of the first move
    tokens = noised_records(given_variables(positions(1, 3), run.layout), run.layout, 3)
    moves = session.run(["action"], {"tokens": tokens})[0][0, 0]
    first = facts["outputs"]["action"][0]
    assert facts["types"][first] == "action"
    with torch.inference_mode():
        wanted = run.net(torch.from_numpy(tokens))["action"][0, 0].numpy()
    np.testing.assert_allclose(moves, wanted, atol=1e-4)


def test_another_model_is_seen(small_run: Path, exported: Path) -> None:
    run = Run.load(small_run)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        stranger = torch_run(run.recipe, Denoiser(run.recipe.model))
    assert not check_onnx(stranger, exported, 3).good


def test_the_papers_shape_and_causal_attention_are_exported_too(tmp_path: Path) -> None:
    trunk = {"layers": 1, "width": 16, "heads": 2, "attention": "causal", "positions": "rope"}
    run = Run.load(untrained(tmp_path, {"paradigm": "s-a", "trunk": trunk}))
    export_onnx(run, tmp_path / "weights.safetensors", tmp_path / "causal.onnx")
    onnx.checker.check_model(str(tmp_path / "causal.onnx"))
    assert check_onnx(run, tmp_path / "causal.onnx", 10).good


def test_graphs_are_written_beside_the_weights_and_compared(small_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    done = CliRunner().invoke(app, ["export", "--graphs", "--weights", str(folder), "--positions", "5"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].startswith(f"{folder}: 5 positions, largest difference of a logit")
    assert {path.name for path in folder.glob("*.onnx")} == {
        *("evaluate.onnx", "value.onnx", "predict.onnx", "denoise.onnx"),
        *("evaluate-int8.onnx", "value-int8.onnx", "predict-int8.onnx", "denoise-int8.onnx"),
    }
    assert Run.load(folder).backend.name == "onnx"


@pytest.mark.parametrize("words", [[], ["--graphs", "--onnx", "x.onnx"]])
def test_one_of_two_things_is_exported(words: list[str]) -> None:
    done = CliRunner().invoke(app, ["export", *words])
    assert isinstance(done.exception, UserError)
    assert "give --graphs, or --onnx FILE" in str(done.exception)


@pytest.mark.parametrize("what", [["--graphs"], ["--onnx", "x.onnx"]], ids=["graphs", "one file"])
def test_no_run_no_file(what: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["export", *what, "--weights", "nowhere"])
    assert isinstance(done.exception, UserError)
    assert "nowhere is no run folder: give the folder that `diffusearch train` wrote" in str(done.exception)
    assert list(tmp_path.iterdir()) == []
