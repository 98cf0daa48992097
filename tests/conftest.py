"""What all tests share: one thread for tensors, a tiny run with random weights, a denoiser that answers by a script.

The run imagines nonsense, but by every step that a trained one takes.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# Before torch is imported, and for every program that a test starts: the tensors here are tiny, and several threads
# that wait for each other on a busy machine take many times longer than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch
from torch import Tensor

from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.layout import Group, Layout
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import recipe_from_dict, recipe_text


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.platform != "win32":
        return
    for item in items:
        if item.get_closest_marker("posix"):
            item.add_marker(pytest.mark.skip(reason="needs signals, a shell or programs that Windows does not have"))


def write_program(path: Path, *arguments: str | Path) -> str:
    """A file at (or, on Windows, beside) this path that starts Python with these arguments as a program of its own."""
    words = " ".join(f'"{word}"' for word in (sys.executable, *arguments))
    if sys.platform == "win32":
        path = path.with_name(f"{path.name}.cmd")
        path.write_text(f"@{words}\n", encoding="utf-8")
    else:
        path.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
        path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """What writes a program for tests that start one by its path: `write_program`."""
    return write_program


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 2 layers, written as training writes it."""
    folder = tmp_path_factory.mktemp("tiny")
    trunk = {"layers": 2, "width": 32, "heads": 2, "attention": "prefix"}
    model = {"encoding": "compact", "patch": 8, "head": "squares", "root_value": True, "trunk": trunk}
    recipe = recipe_from_dict({"name": "tiny", "model": model})
    with torch.random.fork_rng():  # the network draws its first weights from the global generator
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {})
    return folder


Script = Callable[[list[int]], Sequence[dict[int, float]]]


class Scripted:
    """Looks like a Denoiser. For every target the script names tokens and their probabilities, given the record x;
    the other tokens of the vocabulary share the rest evenly."""

    prefix, root_value, shift, self_conditioning = False, None, 0, None

    def __init__(self, script: Script) -> None:
        self.script, self.calls = script, 0

    def hidden(self, tokens: Tensor, layout: Layout, root: None = None) -> Tensor:
        self.calls += 1
        return tokens

    def logits(
        self, hidden: Tensor, layout: Layout, groups: tuple[Group, ...] | None = None, tokens: Tensor | None = None
    ) -> dict[str, Tensor]:
        answers = [self.script(row) for row in hidden.tolist()]
        out = {}
        for group in groups or layout.groups:
            logits = torch.empty(len(answers), len(group.variables), group.size)
            for row, answer in enumerate(answers):
                for column, variable in enumerate(group.variables - layout.given_variables):
                    named = answer[variable]
                    rest = (1.0 - sum(named.values())) / (group.size - len(named))
                    logits[row, column] = math.log(max(rest, 1e-30))
                    for token, probability in named.items():
                        logits[row, column, token] = math.log(max(probability, 1e-30))
            out[group.type] = logits
        return out


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted
