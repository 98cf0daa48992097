"""A record small enough to enumerate, and a small real network."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.tokens.layout import Group

torch.set_num_threads(1)


def make_tiny_layout() -> SimpleNamespace:
    """One given variable and two predicted ones with vocabularies of 2 and 3: small enough to enumerate."""
    one, two = np.array([1]), np.array([2])
    groups = (
        Group("coin", 2, one, one, np.array([0]), np.array([0])),
        Group("die", 3, two, two, np.array([0]), np.array([0])),
    )
    return SimpleNamespace(
        sizes=np.array([2, 2, 3]),
        types=("coin", "coin", "die"),
        variables=3,
        given_variables=1,
        predicted=2,
        groups=groups,
        segments=[],
    )


@pytest.fixture
def tiny_layout() -> SimpleNamespace:
    return make_tiny_layout()


@pytest.fixture
def make_net() -> Callable[..., Denoiser]:
    """A small network; keyword arguments go to the model, the named ones to its trunk."""

    def make(
        attention: str = "full", positions: str = "learned", layers: int = 2, seed: int = 0, **model: object
    ) -> Denoiser:
        trunk = TrunkConfig(layers=layers, width=32, heads=2, dropout=0.0, attention=attention, positions=positions)
        torch.manual_seed(seed)
        settings: dict[str, object] = {"paradigm": "s-asa", "horizon": 2, "encoding": "compact", "patch": 8}
        settings |= {"head": "squares", "head_width": 8}
        net = Denoiser(ModelConfig(**(settings | model), trunk=trunk))  # type: ignore[arg-type]
        with torch.no_grad():  # fresh weights answer nearly alike everywhere: give them opinions
            for parameter in net.parameters():
                parameter.mul_(3.0)
        return net.eval()

    return make
