"""Small networks of every kind."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig

torch.set_num_threads(1)


@pytest.fixture
def make_net() -> Callable[..., Denoiser]:
    """A small network: keyword arguments of the trunk by name, the rest goes to the model."""

    def make(**options: object) -> Denoiser:
        fields = TrunkConfig.__dataclass_fields__
        trunk: dict[str, object] = {"layers": 2, "width": 32, "heads": 2, "dropout": 0.0}
        trunk |= {key: value for key, value in options.items() if key in fields}
        model: dict[str, object] = {"paradigm": "s-asa", "horizon": 2, "encoding": "compact", "patch": 4}
        model |= {"head": "squares", "head_width": 8}
        model |= {key: value for key, value in options.items() if key not in fields}
        torch.manual_seed(0)
        return Denoiser(ModelConfig(**model, trunk=TrunkConfig(**trunk))).eval()  # type: ignore[arg-type]

    return make


@pytest.fixture
def some_tokens() -> Callable[..., torch.Tensor]:
    """Random tokens of a network's layout, masks among them."""

    def draw(net: Denoiser, batch: int = 3, seed: int = 0) -> torch.Tensor:
        sizes = torch.from_numpy(net.layout.sizes) + 1
        uniform = torch.rand((batch, len(sizes)), generator=torch.Generator().manual_seed(seed))
        return (uniform * sizes).long()

    return draw
