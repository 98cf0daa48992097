"""Optimisers, schedules and the average of weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from diffusearch.model.denoiser import Denoiser, ModelConfig
from diffusearch.model.trunk import TrunkConfig
from diffusearch.training.muon import Muon, orthogonal
from diffusearch.training.optimiser import Average, make_optimisers, rate_factor
from diffusearch.training.tables import OptimiserConfig


@pytest.mark.parametrize("shape", [(3, 32, 32), (2, 16, 64), (2, 64, 16)])
def test_muon_updates_are_nearly_orthogonal(shape: tuple[int, int, int]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    out = orthogonal(matrices)
    assert out.shape == matrices.shape
    values = torch.linalg.svdvals(out)
    assert values.min() > 0.4
    assert values.max() < 1.3
    # the directions stay: U V^T of the matrix itself
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    assert nn.functional.cosine_similarity(out.flatten(1), (u @ v).flatten(1)).min() > 0.95


def test_muon_steps_have_the_size_of_adams() -> None:
    """RMS of a step is about 0.2 of the rate, whatever the gradient's scale."""
    for scale in (1e-4, 1e4):
        weight = nn.Parameter(torch.zeros(32, 64))
        weight.grad = torch.randn(32, 64, generator=torch.Generator().manual_seed(1)) * scale
        Muon([weight], lr=0.1).step()
        assert float(weight.detach().square().mean().sqrt()) == pytest.approx(0.02, rel=0.2)


def test_muon_decays_weights() -> None:
    weight = nn.Parameter(torch.ones(8, 8))
    weight.grad = torch.zeros(8, 8)
    Muon([weight], lr=0.1, weight_decay=0.5).step()
    assert torch.allclose(weight, torch.full((8, 8), 0.95))


def test_matrices_of_one_shape_together_are_the_same_as_one_by_one() -> None:
    gradients = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(2))
    together = [nn.Parameter(torch.zeros(8, 8)) for _ in range(2)]
    alone = [nn.Parameter(torch.zeros(8, 8)) for _ in range(2)]
    for index in range(2):
        together[index].grad, alone[index].grad = gradients[index].clone(), gradients[index].clone()
        Muon([alone[index]], lr=0.1).step()
    Muon(together, lr=0.1).step()
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(together, alone, strict=True))


def test_muon_in_bf16_takes_nearly_the_same_step_and_keeps_the_weights_precision() -> None:
    gradient = torch.randn(32, 64, generator=torch.Generator().manual_seed(3))
    steps = []
    for bf16 in (False, True):
        weight = nn.Parameter(torch.zeros(32, 64))
        weight.grad = gradient.clone()
        optimiser = Muon([weight], lr=0.1, bf16=bf16)
        optimiser.step()
        assert weight.dtype == optimiser.state[weight]["momentum"].dtype == torch.float32
        steps.append(weight.detach())
    exact, rounded = steps
    assert not torch.equal(exact, rounded)
    assert float((exact - rounded).norm() / exact.norm()) < 0.05  # bf16 has 8 bits of precision


def small_net() -> Denoiser:
    trunk = TrunkConfig(layers=1, width=16, heads=2)
    return Denoiser(ModelConfig(paradigm="s-a", encoding="compact", patch=8, head="typed", trunk=trunk))


@pytest.mark.parametrize("kind", ["adam", "adamw", "muon"])
def test_every_weight_has_exactly_one_optimiser(kind: str) -> None:
    net = small_net()
    optimisers = make_optimisers(net, OptimiserConfig(kind=kind, weight_decay=0.1))
    taken = [id(p) for o in optimisers for group in o.param_groups for p in group["params"]]
    assert sorted(taken) == sorted(id(p) for p in net.parameters())
    if kind == "muon":
        names = {id(p): name for name, p in net.named_parameters()}
        assert all(names[id(p)].startswith("trunk.") for p in optimisers[0].param_groups[0]["params"])


def test_schedules() -> None:
    cosine = OptimiserConfig(warmup=10, schedule="cosine")
    assert rate_factor(0, 110, cosine) == pytest.approx(0.1)
    assert rate_factor(9, 110, cosine) == 1.0
    assert rate_factor(60, 110, cosine) == pytest.approx(0.5)
    assert rate_factor(109, 110, cosine) < 0.001
    constant = OptimiserConfig(warmup=0, schedule="constant")
    assert {rate_factor(step, 50, constant) for step in range(50)} == {1.0}
    decay = OptimiserConfig(warmup=0, schedule="decay")
    assert rate_factor(79, 100, decay) == 1.0
    assert rate_factor(90, 100, decay) == pytest.approx(0.5)
    falling = [rate_factor(step, 110, cosine) for step in range(9, 110)]
    assert falling == sorted(falling, reverse=True)


def test_the_average_follows_by_hand() -> None:
    net = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(0.0)
    average = Average(net, 0.9)
    with torch.no_grad():
        net.weight.fill_(1.0)
    average.update(net.named_parameters(), 0)  # the decay is 1/10 in the first step
    assert float(average.weights["weight"]) == pytest.approx(0.9)
    for _ in range(3):
        average.update(net.named_parameters(), 10**6)
    assert float(average.weights["weight"]) == pytest.approx(1 - 0.1 * 0.9**3)
