"""The forward processes against their matrices: q(x_t | x_0), and the posterior q(x_{t-1} | x_t, x_0) in two cases."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.gaussian import Gaussian, noised_vectors, token_vectors
from diffusearch.diffusion.multinomial import Multinomial
from diffusearch.diffusion.schedule import alpha, time_weight

T = 5
N = 40_000
Matrix = npt.NDArray[np.float64]


def transition(t: int, noise: Matrix) -> Matrix:
    """Q_t [from, to] = (1 - beta_t) I + beta_t 1 noise^T, with beta_t from alpha_t = (1 - beta_1)...(1 - beta_t)."""
    beta = 1.0 - float(alpha(t, T) / alpha(t - 1, T))
    return (1.0 - beta) * np.eye(len(noise)) + beta * np.outer(np.ones(len(noise)), noise)


def marginal(t: int, noise: Matrix) -> Matrix:
    """Q_1 Q_2 ... Q_t."""
    out = np.eye(len(noise))
    for step in range(1, t + 1):
        out = out @ transition(step, noise)
    return out


def posterior(x_t: int, x_0: int, t: int, noise: Matrix) -> Matrix:
    """q(x_{t-1} | x_t, x_0) by Bayes' rule from the matrices."""
    joint = marginal(t - 1, noise)[x_0] * transition(t, noise)[:, x_t]
    return np.asarray(joint / joint.sum())


UNIFORM = np.full(3, 1 / 3)
ABSORBING = np.array([0.0, 0.0, 0.0, 1.0])  # the mask is the fourth token


def frequencies(tokens: torch.Tensor, size: int) -> Matrix:
    return torch.bincount(tokens, minlength=size).double().numpy() / len(tokens)


@pytest.mark.parametrize("t", [1, 3, 5])
def test_absorbing_marginal(t: int, tiny_layout) -> None:
    clean = torch.tensor([[1, 0, 2]]).expand(N, -1)
    x, noised = Absorbing(T).corrupt(clean, tiny_layout, torch.full((N,), t), torch.Generator().manual_seed(t))
    assert np.abs(frequencies(x[:, 2], 4) - marginal(t, ABSORBING)[2]).max() < 0.013
    assert bool((x[:, 0] == 1).all())  # the root is never noised
    assert not bool(noised[:, 0].any())
    assert bool((noised == (x != clean)).all())  # masks are never clean tokens


@pytest.mark.parametrize("t", [1, 3, 5])
def test_multinomial_marginal(t: int, tiny_layout) -> None:
    clean = torch.tensor([[1, 0, 2]]).expand(N, -1)
    x, noised = Multinomial(T).corrupt(clean, tiny_layout, torch.full((N,), t), torch.Generator().manual_seed(t))
    assert np.abs(frequencies(x[:, 2], 3) - marginal(t, UNIFORM)[2]).max() < 0.013
    assert int(x[:, 1].max()) <= 1  # each over its own vocabulary, no mask among them
    assert bool((x[:, 0] == 1).all())
    assert bool((noised == (x != clean)).all())


@pytest.mark.parametrize("t", [2, 3, 4, 5])
@pytest.mark.parametrize("noise", [UNIFORM, ABSORBING], ids=["multinomial", "absorbing"])
def test_two_case_posterior_is_bayes_rule(t: int, noise: Matrix) -> None:
    """The appendix's closed form: eta_t if x_t = x_0, lambda_t otherwise."""
    now, before = float(alpha(t, T)), float(alpha(t - 1, T))
    beta = 1.0 - now / before
    lambda_t = float(time_weight("reciprocal", torch.tensor([t]), T))
    for x_0 in range(3):
        for x_t in range(len(noise)):
            if marginal(t, noise)[x_0, x_t] == 0:
                continue
            seen, clean = np.eye(len(noise))[x_t], np.eye(len(noise))[x_0]
            if x_t == x_0:
                eta = 1.0 - beta * (1.0 - before) * noise[x_t] / (now + (1.0 - now) * noise[x_t])
                expected = eta * seen + (1.0 - eta) * noise
            else:
                expected = lambda_t * clean + (1.0 - lambda_t) * ((1.0 - beta) * seen + beta * noise)
            assert np.allclose(posterior(x_t, x_0, t, noise), expected)


@pytest.mark.parametrize("t", [2, 4])
def test_multinomial_decoding_draws_from_the_posterior(t: int) -> None:
    """Revealing with probability lambda_t and else moving on by `noise` is the second case, x_t != x_0."""
    generator = np.random.default_rng(t)
    x_0, x_t = 2, 0
    lambda_t = float(time_weight("reciprocal", torch.tensor([t]), T))
    moved = Multinomial(T).noise(np.full(N, x_t), np.array(3), t, t - 1, generator)
    drawn = torch.from_numpy(np.where(generator.random(N) < lambda_t, x_0, moved))
    assert np.abs(frequencies(drawn, 3) - posterior(x_t, x_0, t, UNIFORM)).max() < 0.013


def test_multinomial_noise_gives_masks_a_token() -> None:
    drawn = Multinomial(T).noise(np.full(N, 3), np.array(3), 2, 1, np.random.default_rng(0))
    assert np.abs(frequencies(torch.from_numpy(drawn), 3) - UNIFORM).max() < 0.013


def test_gaussian_marginal_and_untouched_root(make_net) -> None:
    net = make_net(paradigm="s-a", horizon=1)
    layout, process = net.layout, Gaussian(T)
    tokens = torch.zeros((400, layout.variables), dtype=torch.long)
    signal, noised = process.corrupt(tokens, layout, torch.full((400,), 3), torch.Generator())
    clean = token_vectors(net, tokens, layout).detach()
    z = noised_vectors(clean, signal, torch.Generator().manual_seed(1))
    assert torch.equal(z[:, : layout.given_variables], clean[:, : layout.given_variables])
    assert noised.sum(1).tolist() == [1] * 400
    snr = float(process.snr(3))
    residue = z[:, -1] - (snr / (1 + snr)) ** 0.5 * clean[:, -1]
    assert float(residue.mean()) == pytest.approx(0.0, abs=0.03)
    assert float(residue.var()) == pytest.approx(1 / (1 + snr), rel=0.05)
    assert clean.norm(dim=-1).allclose(torch.tensor(4.0))


def test_gaussian_noise_grows_with_time() -> None:
    snr = Gaussian(T).snr(torch.arange(1, T + 1)).log()
    assert snr[0] == pytest.approx(3.0)
    assert snr[-1] == pytest.approx(-6.0)
    assert torch.allclose(snr.diff(), torch.full((T - 1,), -9.0 / (T - 1)))


def test_gaussian_step_back_composes_to_the_marginal() -> None:
    """If z_now has q's distribution, so has the draw of z_after: mean alpha e, variance sigma^2."""
    process, generator = Gaussian(T), torch.Generator().manual_seed(2)
    clean = torch.full((N, 1, 1), 1.7)
    now, after = (float(process.snr(t)) for t in (4, 2))
    z = noised_vectors(clean, torch.full((N, 1), (now / (1 + now)) ** 0.5), generator)
    back = process.step_back(z, clean, 4, 2, generator)
    assert float(back.mean()) == pytest.approx(1.7 * (after / (1 + after)) ** 0.5, abs=0.01)
    assert float(back.var()) == pytest.approx(1 / (1 + after), rel=0.03)
