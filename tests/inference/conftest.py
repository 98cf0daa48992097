"""Small runs with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.recipe import recipe_from_dict

MakeRun = Callable[..., Run]
Calls = list[tuple[str, int, int]]


@pytest.fixture
def make_run() -> MakeRun:
    """A run of one layer; `process`, `horizons`, `positions` and `decoding` are the recipe's, others the model's."""

    def make(paradigm: str = "s-asa", *, double: bool = False, **options: Any) -> Run:
        process = options.pop("process", "absorbing")
        horizons, decoding = options.pop("horizons", []), options.pop("decoding", Decoding())
        attention = "causal" if process == "autoregressive" else options.pop("attention", "prefix")
        positions = options.pop("positions", "learned")
        trunk = {"layers": 1, "width": 32, "heads": 2, "attention": attention, "positions": positions}
        model = {"paradigm": paradigm, "horizon": 2, "encoding": "compact", "patch": 8, "head": "squares"}
        values = {"horizons": horizons, "process": {"kind": process}, "model": model | {"trunk": trunk} | options}
        recipe = replace(recipe_from_dict(values), decoding=decoding)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            net = Denoiser(recipe.model)
            with torch.no_grad():
                for parameter in net.parameters():  # fresh weights answer nearly alike everywhere
                    parameter.add_(torch.randn(parameter.shape) * 0.05 if parameter.dim() > 1 else 0.0)
        return torch_run(recipe, net.double() if double else net)

    return make


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], Calls]:
    """Every network call of a run with its rows and variables, as they are made."""

    def watch(run: Run) -> Calls:
        calls: Calls = []
        hidden, read_root = run.net.hidden, run.net.read_root

        def watch_hidden(tokens: torch.Tensor, *more: Any) -> torch.Tensor:
            calls.append(("hidden", *tokens.shape))
            return hidden(tokens, *more)

        def watch_root(tokens: torch.Tensor, *more: Any) -> Any:
            calls.append(("root", *tokens.shape))
            return read_root(tokens, *more)

        monkeypatch.setattr(run.net, "hidden", watch_hidden)
        monkeypatch.setattr(run.net, "read_root", watch_root)
        return calls

    return watch
