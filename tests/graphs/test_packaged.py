"""The graphs in the package are those that this code makes from the packaged weights, and each can be opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from diffusearch.graphs.about import graph_names
from diffusearch.graphs.files import write_graphs
from diffusearch.inference.onnx_backend import OnnxBackend
from diffusearch.inference.run import Run
from diffusearch.weights import NAMES, packaged


@pytest.mark.parametrize("name", NAMES)
def test_packaged_graphs_are_up_to_date(name: str, tmp_path: Path) -> None:
    for file in ("recipe.toml", "weights.safetensors"):
        shutil.copy(packaged(name) / file, tmp_path / file)
    made = {path.name: path.read_bytes() for path in write_graphs(tmp_path)}
    found = {path.name: path.read_bytes() for path in packaged(name).glob("*.onnx")}
    assert made.keys() == found.keys(), "run `diffusearch export --graphs`"
    assert [file for file in made if made[file] != found[file]] == [], "run `diffusearch export --graphs`"


@pytest.mark.parametrize("name", NAMES)
def test_packaged_graphs_open(name: str) -> None:
    run = Run.load(packaged(name))
    for backend in (run.backend, run.quantised().backend):
        assert isinstance(backend, OnnxBackend)
        for graph in graph_names(run.recipe):
            assert backend._session(graph).get_outputs()
