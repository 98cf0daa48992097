"""Weights files: compared with the recipe by their header, before anything is built; damage is one sentence."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.training import checkpoint
from diffusearch.training.recipe import Recipe


@pytest.fixture
def weights(make_recipe, tmp_path: Path) -> tuple[Recipe, Path]:
    recipe = make_recipe(model={"root_value": True, "board_features": True, "residual_state": True})
    path = tmp_path / "weights.safetensors"
    checkpoint.save_tensors(path, dict(Denoiser(recipe.model).named_parameters()), {"step": 3})
    return recipe, path


def test_what_is_saved_is_loaded(weights: tuple[Recipe, Path]) -> None:
    recipe, path = weights
    tensors, about = checkpoint.load_tensors(path)
    assert checkpoint.load_facts(path) == about == {"step": 3}
    assert checkpoint.load_shapes(path) == checkpoint.shapes(tensors)
    net = checkpoint.load_denoiser(recipe.model, path)
    assert all(torch.equal(parameter, tensors[name]) for name, parameter in net.named_parameters())
    assert all(parameter.device.type == "cpu" for parameter in net.parameters())


@pytest.mark.parametrize(
    "trunk", [{"layers": 128, "width": 4096, "heads": 2}, {"layers": 2}, {"width": 32}], ids=["huge", "deep", "wide"]
)
def test_a_recipe_of_another_shape_is_refused_before_it_is_built(
    weights: tuple[Recipe, Path], make_recipe, monkeypatch: pytest.MonkeyPatch, trunk: dict[str, int]
) -> None:
    """The huge one would take a hundred gigabytes."""
    other = make_recipe(model={"root_value": True, "board_features": True, "residual_state": True, "trunk": trunk})
    built: list[str] = []
    init = Denoiser.__init__

    def watched(self: Denoiser, *words: object) -> None:
        init(self, *words)  # type: ignore[arg-type]
        built.append(next(self.parameters()).device.type)

    monkeypatch.setattr(Denoiser, "__init__", watched)
    with pytest.raises(UserError, match="does not fit the recipe"):
        checkpoint.load_denoiser(other.model, weights[1])
    assert built == ["meta"]


def header(content: bytes, path: Path) -> None:
    path.write_bytes(struct.pack("<Q", len(content)) + content)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"no json",
        b"\xff\xfe",
        json.dumps({"__metadata__": {"format": checkpoint.FORMAT}}).encode(),
        json.dumps({"__metadata__": {"format": checkpoint.FORMAT, "about": "[" * 100_000 + "]" * 100_000}}).encode(),
        json.dumps({"__metadata__": {"format": checkpoint.FORMAT, "about": "[1]"}}).encode(),
        json.dumps({"x": {"dtype": "F32", "shape": [10**15], "data_offsets": [0, 4 * 10**15]}}).encode(),
        json.dumps({"x": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}).encode(),
    ],
    ids=["nested", "lists", "text", "bytes", "no facts", "nested facts", "facts no table", "too long", "negative"],
)
def test_damaged_headers_are_one_sentence(weights: tuple[Recipe, Path], content: bytes) -> None:
    recipe, path = weights
    header(content, path)
    with pytest.raises(UserError, match="damaged or no safetensors file") as refused:
        checkpoint.load_denoiser(recipe.model, path)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("step", ["many", -1, [3], 2.5])
def test_facts_that_are_no_counts_are_refused(step: object, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="step is"):
        checkpoint.count({"step": step}, "step", tmp_path)
    assert checkpoint.count({}, "step", tmp_path) == 0


def test_a_failed_write_keeps_the_old_file(weights: tuple[Recipe, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, path = weights
    before = path.read_bytes()

    def full(tensors: object, target: Path, metadata: object) -> None:
        Path(target).write_bytes(b"half")
        raise SafetensorError("Error while serializing: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(UserError, match=r"weights.safetensors cannot be written \(.*No space left"):
        checkpoint.save_tensors(path, {"x": torch.zeros(2)}, {})
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_same_tensors_and_facts_give_the_same_bytes(tmp_path: Path) -> None:
    """The hash of the weights says which weights played: two equal trainings must not look different."""
    for number in range(20):
        checkpoint.save_tensors(tmp_path / f"{number}.safetensors", {"a": torch.ones(3)}, {"step": 2, "name": "é"})
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    assert checkpoint.load_facts(tmp_path / "0.safetensors") == {"step": 2, "name": "é"}
    assert checkpoint.load_tensors(tmp_path / "0.safetensors")[0]["a"].tolist() == [1, 1, 1]
