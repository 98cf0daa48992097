"""Decoding with a denoiser whose answers are known: orders, what is carried, the move last, stopping, temperature."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.autoregressive import Autoregressive
from diffusearch.diffusion.decoding import Decoding, choose
from diffusearch.diffusion.gaussian import Gaussian
from diffusearch.diffusion.multinomial import Multinomial
from diffusearch.diffusion.orders import ORDERS
from diffusearch.diffusion.sampling import Sample
from diffusearch.diffusion.steps import schedule, time_grid
from diffusearch.errors import UserError
from diffusearch.tokens.layout import layout
from diffusearch.tokens.record_tokens import masked_record

LAYOUT = layout("s-aa", 4, "compact", 8)  # four actions behind the root
ROOT = np.zeros((1, 68), dtype=np.int64)
MASK = 1969
T = 4  # one action a step


def run(net, process=None, batch: int = 1, allowed=None, seed: int = 0, **decoding) -> Sample:
    choice = Decoding(**({"steps": T} | decoding))
    generator = np.random.default_rng(seed)
    return (process or Absorbing(T)).sample(net, ROOT.repeat(batch, 0), LAYOUT, choice, generator, allowed, film=True)


def opened(sample: Sample) -> list[list[int]]:
    """For each frame of the film which actions are visible."""
    return [[i for i in range(4) if int(frame.tokens[0, 68 + i]) != MASK] for frame in sample.film]


def constant(*answers: dict[int, float]):
    return lambda x: answers


def joint(*probabilities: float) -> object:
    """The log-probability of a record. Each is a float32 log-softmax over 1,969 moves, true to about 1e-4."""
    return pytest.approx(sum(map(math.log, probabilities)), abs=1e-3)


def test_confidence_goes_easy_first(scripted) -> None:
    net = scripted(constant({10: 0.5}, {11: 0.9}, {12: 0.2}, {13: 0.7}))
    sample = run(net)
    assert opened(sample) == [[], [1], [1, 3], [0, 1, 3], [0, 1, 2, 3]]
    assert sample.tokens[0, 68:].tolist() == [10, 11, 12, 13]
    assert float(sample.log_probability[0]) == joint(0.5, 0.9, 0.2, 0.7)
    assert int(sample.steps[0]) == net.calls == 4
    assert int(sample.move_step[0]) == 3


def test_margin_and_entropy_rank_otherwise(scripted) -> None:
    torn = {10: 0.5, 20: 0.48}  # likely, but hardly more than its rival; low entropy
    calm = {11: 0.45}  # less likely, without a rival; high entropy
    sure = {12: 0.99}
    net = scripted(constant(torn, calm, sure, sure))
    assert opened(run(net, order="confidence"))[3] == [0, 2, 3]
    assert opened(run(net, order="margin"))[3] == [1, 2, 3]
    assert opened(run(net, order="entropy"))[3] == [0, 2, 3]
    broad = {10: 0.6}  # the rest is spread over all other moves
    net = scripted(constant(broad, torn, sure, sure))
    assert opened(run(net, order="confidence"))[3] == [0, 2, 3]
    assert opened(run(net, order="entropy"))[3] == [1, 2, 3]


def test_left_to_right_and_random(scripted) -> None:
    net = scripted(constant({10: 0.1}, {11: 0.2}, {12: 0.3}, {13: 0.4}))
    assert opened(run(net, order="left-to-right")) == [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    firsts = {opened(run(net, order="random", seed=seed))[1][0] for seed in range(40)}
    assert firsts == {0, 1, 2, 3}
    assert opened(run(net, order="random", seed=5)) == opened(run(net, order="random", seed=5))


def test_move_last(scripted) -> None:
    net = scripted(constant({10: 0.99}, {11: 0.5}, {12: 0.4}, {13: 0.3}))
    assert opened(run(net, move_last=True)) == [[], [1], [1, 2], [1, 2, 3], [0, 1, 2, 3]]
    # with more steps than actions the others are there early, and the move still waits for the last step
    frames = opened(run(net, Absorbing(20), steps=20, move_last=True))
    assert all(0 not in frame for frame in frames[:-1])
    assert frames[-2] == [1, 2, 3]


@pytest.mark.parametrize("order", [order for order in ORDERS if order != "segments"])
@pytest.mark.parametrize("horizon", [1, 4])
def test_the_move_waits_for_the_last_call_in_every_order(make_net, order: str, horizon: int) -> None:
    """A step of plies may leave so little noise that its time rounds to 0 before the last call."""
    net = make_net("prefix", horizon=horizon)
    given = np.zeros((2, net.layout.given_variables), dtype=np.int64)
    for steps in (1, 4, 20):
        choice = Decoding(order=order, steps=steps, move_last=True)
        sample = Absorbing(20).sample(net, given, net.layout, choice, np.random.default_rng(0))
        assert sample.move_step.tolist() == sample.steps.tolist()


def test_one_step_is_a_plain_arg_max(make_net) -> None:
    net = make_net("prefix")
    given = np.random.default_rng(0).integers(0, 2, (3, net.layout.given_variables))
    sample = Absorbing(20).sample(net, given, net.layout, Decoding(steps=1), np.random.default_rng(0))
    logits = net(torch.from_numpy(masked_record(given, net.layout)))
    for group in net.layout.groups:
        assert np.array_equal(sample.tokens[:, group.variables], logits[group.type].argmax(-1).numpy())
    assert sample.steps.tolist() == [1, 1, 1]


@pytest.mark.parametrize("process", [Absorbing(20), Multinomial(20), Gaussian(20), Autoregressive()])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_masks_are_never_predicted_and_the_root_stays(make_net, process, temperature: float) -> None:
    net = make_net("causal" if isinstance(process, Autoregressive) else "prefix")
    given = np.random.default_rng(0).integers(0, 2, (8, net.layout.given_variables))
    choice = Decoding(steps=7, temperature=temperature)
    sample = process.sample(net, given, net.layout, choice, np.random.default_rng(1), film=True)
    assert np.array_equal(sample.tokens[:, : net.layout.given_variables], given)
    assert bool((sample.tokens < net.layout.sizes).all())
    assert np.array_equal(sample.film[-1].tokens, sample.tokens)
    first = sample.film[0].tokens[:, net.layout.given_variables :]
    assert bool((first == net.layout.sizes[net.layout.given_variables :]).all())
    for frame in sample.film:
        assert np.array_equal(frame.tokens[:, : net.layout.given_variables], given)


def test_kept_tokens_stay_however_doubtful_they_become(scripted) -> None:
    def script(x: list[int]) -> list[dict[int, float]]:
        if x[68] == 10:  # once it is fixed, the first action turns out to be unlikely
            return [{10: 0.001, 30: 0.6}, {11: 0.8}, {12: 0.7}, {13: 0.5}]
        return [{10: 0.9}, {11: 0.8}, {12: 0.7}, {13: 0.5}]

    sample = run(scripted(script), carry="keep")
    assert opened(sample) == [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
    assert sample.tokens[0, 68:].tolist() == [10, 11, 12, 13]
    assert float(sample.log_probability[0]) == joint(0.9, 0.8, 0.7, 0.5)  # each with its likelihood when it was fixed
    assert int(sample.move_step[0]) == 1
    shares = [frame.likelihood[0, 68].item() for frame in sample.film[1:]]
    assert shares == pytest.approx([0.9] * 4, abs=1e-3)


def test_a_visible_move_that_is_predicted_anew_may_change(scripted) -> None:
    def script(x: list[int]) -> list[dict[int, float]]:
        changed = sum(token != MASK for token in x[68:72]) >= 2
        return [{30 if changed else 10: 0.9}, {11: 0.8}, {12: 0.7}, {13: 0.5}]

    sample = run(scripted(script), carry="predict")
    assert [int(frame.tokens[0, 68]) for frame in sample.film] == [MASK, 10, 10, 30, 30]
    assert int(sample.move_step[0]) == 3  # the call after which it changed no more
    assert float(sample.log_probability[0]) == joint(0.9, 0.8, 0.7, 0.5)


@torch.inference_mode()
def plain_keep(net, given: torch.Tensor, steps: int, order: str) -> torch.Tensor:
    """Easy-first decoding as it was before variables could be predicted anew, written plainly: one record at a time."""
    layout, rows = net.layout, []
    for root in given:
        x = torch.cat([root, torch.from_numpy(layout.sizes[len(root) :])])
        fixed = [True] * len(root) + [False] * layout.predicted
        for after in time_grid(steps, steps)[1:]:
            logits, ranked = net(x[None]), []
            for group in layout.groups:
                log_p = logits[group.type][0].log_softmax(-1)
                for column, variable in enumerate(group.variables.tolist()):
                    top = log_p[column].topk(2).values.exp()
                    ease = float(top[0] - top[1]) if order == "margin" else float(log_p[column].max())
                    if not fixed[variable]:
                        ranked.append((ease, variable, int(log_p[column].argmax())))
            count = layout.predicted - layout.predicted * after // steps - sum(fixed[len(root) :])
            for _, variable, token in sorted(ranked, reverse=True)[:count]:
                x[variable], fixed[variable] = token, True
        rows.append(x)
    return torch.stack(rows)


@pytest.mark.parametrize("order", ["confidence", "margin"])
@pytest.mark.parametrize("attention", ["prefix", "full"])
def test_keeping_is_plain_easy_first_decoding(make_net, order: str, attention: str) -> None:
    net = make_net(attention).double()
    given = np.random.default_rng(0).integers(0, 2, (2, net.layout.given_variables))
    choice = Decoding(steps=8, order=order, carry="keep")
    sample = Absorbing(8).sample(net, given, net.layout, choice, np.random.default_rng(0))
    assert np.array_equal(sample.tokens, plain_keep(net, torch.from_numpy(given), 8, order).numpy())


def test_gumbel_noise_ranks_in_proportion_and_ends_certain(scripted) -> None:
    """With Gumbel noise of scale s a variable comes first with a chance in proportion to its likelihood ** (1 / s)."""
    likely, batch = (0.6, 0.5, 0.4, 0.3), 2000
    net = scripted(constant(*({10 + i: p} for i, p in enumerate(likely))))
    sample = run(net, batch=batch, carry="gumbel")
    first = sample.film[1].tokens[:, 68:] != MASK
    assert first.sum(1).tolist() == [1] * batch
    scale = 0.5 * 3 / T  # t / 2T after the first of four steps
    weights = np.array([p ** (1 / scale) for p in likely])
    expected = weights / weights.sum()
    errors = np.sqrt(expected * (1 - expected) / batch)
    assert (np.abs(first.mean(0) - expected) < 5 * errors).all()
    assert np.unique(sample.tokens[:, 68:], axis=0).tolist() == [[10, 11, 12, 13]]
    again, other = run(net, batch=8, carry="gumbel", seed=0), run(net, batch=8, carry="gumbel", seed=1)
    assert opened(again) == opened(run(net, batch=8, carry="gumbel", seed=0))
    assert not np.array_equal(again.film[1].tokens, other.film[1].tokens)


def test_orders_by_place_always_keep() -> None:
    assert all(Decoding(order=order, carry="predict").keeps for order in ("left-to-right", "plies"))
    assert not any(Decoding(order=order).keeps for order in ("confidence", "margin", "entropy"))
    assert Decoding(carry="keep").keeps
    assert not Decoding(carry="gumbel").keeps


@pytest.mark.parametrize("process", [Absorbing(20), Multinomial(20), Gaussian(20), Autoregressive()])
def test_film_is_recorded_where_it_is_wanted_and_holds_probabilities(make_net, process) -> None:
    net = make_net("causal" if isinstance(process, Autoregressive) else "prefix")
    given = np.zeros((2, net.layout.given_variables), dtype=np.int64)
    silent = process.sample(net, given, net.layout, Decoding(steps=5), np.random.default_rng(1))
    sample = process.sample(net, given, net.layout, Decoding(steps=5), np.random.default_rng(1), film=True)
    assert silent.film == []
    assert np.array_equal(silent.tokens, sample.tokens)
    assert len(sample.film) == int(sample.steps[0]) + 1
    for frame in sample.film:
        assert bool(((frame.likelihood >= 0.0) & (frame.likelihood <= 1.0)).all())
        assert bool((frame.likelihood[:, : net.layout.given_variables] == 1.0).all())
        if frame.move_log_probabilities is not None:
            sums = np.exp(frame.move_log_probabilities.astype(np.float64)).sum(1)
            assert sums.tolist() == pytest.approx([1.0, 1.0], rel=1e-4)
    assert sample.film[0].move_log_probabilities is None
    assert sample.film[-1].move_log_probabilities is not None or isinstance(process, Absorbing | Multinomial)


def test_stop_when_everything_left_is_confident(scripted) -> None:
    def script(x: list[int]) -> list[dict[int, float]]:
        shy = 0.3 if x[69] == MASK else 0.95
        return [{10: shy}, {11: 0.9}, {12: 0.97}, {13: 0.92}]

    net = scripted(script)
    sample = run(net, order="confidence", stop_confidence=0.9)
    assert opened(sample) == [[], [2], [2, 3], [1, 2, 3], [0, 1, 2, 3]]  # 0.3 is doubtful until the last
    net = scripted(constant({10: 0.91}, {11: 0.95}, {12: 0.97}, {13: 0.92}))
    sample = run(net, stop_confidence=0.9)
    assert opened(sample) == [[], [0, 1, 2, 3]]
    assert int(sample.steps[0]) == 1
    assert int(run(net, stop_confidence=0.0).steps[0]) == 4  # off
    with pytest.raises(UserError, match="stop_confidence"):
        Decoding(stop_confidence=1.5)


def test_a_finished_record_waits_for_the_others(scripted) -> None:
    """Stopping is decided for each record of a batch on its own."""

    def script(x: list[int]) -> list[dict[int, float]]:
        likely = 0.99 if x[0] else 0.5
        return [{10 + i: likely - 0.01 * i} for i in range(4)]

    roots = np.concatenate([ROOT, ROOT + 1])
    choice = Decoding(steps=T, stop_confidence=0.9)
    sample = Absorbing(T).sample(scripted(script), roots, LAYOUT, choice, np.random.default_rng(0))
    assert sample.steps.tolist() == [4, 1]
    assert sample.tokens[:, 68:].tolist() == [[10, 11, 12, 13]] * 2


def test_temperature_draws_with_gumbel_noise_in_float64() -> None:
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    logits = np.log(probabilities).astype(np.float32)[None].repeat(40_000, 0)
    for temperature in (1.0, 0.5):
        drawn = choose(logits, temperature, np.random.default_rng(1))
        expected = probabilities ** (1 / temperature)
        frequencies = np.bincount(drawn, minlength=4) / len(drawn)
        assert np.abs(frequencies - expected / expected.sum()).max() < 0.013
    assert bool((choose(logits, 0.0, np.random.default_rng(0)) == 0).all())


def test_rare_tokens_are_drawn_as_often_as_they_should() -> None:
    """Gumbel noise from float32 uniforms has only 2^24 values: in the tails tokens come too often or never."""
    logits = np.array([math.log(1 - 1e-9), math.log(1e-9)], dtype=np.float32)[None].repeat(1_000_000, 0)
    drawn = choose(logits, 1.0, np.random.default_rng(2))
    assert int(drawn.sum()) <= 1
    logits = np.array([math.log(0.9995), math.log(5e-4)], dtype=np.float32)[None].repeat(400_000, 0)
    drawn = choose(logits, 1.0, np.random.default_rng(3))
    assert int(drawn.sum()) == pytest.approx(200, abs=60)  # four standard deviations


def test_legality_mask_on_the_first_move_only(scripted) -> None:
    net = scripted(constant({10: 0.9, 20: 0.05}, {10: 0.9}, {10: 0.9}, {10: 0.9}))
    allowed = np.zeros((1, 1969), dtype=bool)
    allowed[0, [20, 21]] = True
    sample = run(net, allowed=allowed)
    assert sample.tokens[0, 68:].tolist() == [20, 10, 10, 10]
    assert sample.move_log_probabilities is not None
    assert sample.raw_move_logits is not None
    shares = np.exp(sample.move_log_probabilities[0])
    rest = 0.05 / 1967
    assert float(shares[20]) == pytest.approx(0.05 / (0.05 + rest), rel=1e-3)
    assert float(shares.sum(dtype=np.float64)) == pytest.approx(1.0, rel=1e-4)
    assert int(sample.raw_move_logits[0].argmax()) == 10  # legality without the mask stays measurable
    free = run(net, allowed=allowed, legal=False)
    assert int(free.tokens[0, 68]) == 10


@pytest.mark.parametrize("steps", [1, 3, 20])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("carry", ["predict", "keep", "gumbel"])
def test_every_choice_ends_with_a_whole_record(make_net, steps: int, order: str, carry: str) -> None:
    net = make_net("prefix")
    given = np.zeros((2, net.layout.given_variables), dtype=np.int64)
    choice = Decoding(steps=steps, order=order, carry=carry, move_last=order != "segments", temperature=0.7)
    for process in (Absorbing(20), Multinomial(20)):
        sample = process.sample(net, given, net.layout, choice, np.random.default_rng(0))
        assert bool((sample.tokens < net.layout.sizes).all())
        assert bool((sample.log_probability < 0).all())
        assert sample.steps.tolist() == [min(steps, len(schedule(net.layout, choice, 20)))] * 2


def test_multinomial_film_shows_only_what_is_fixed(scripted) -> None:
    net = scripted(constant({10: 0.5}, {11: 0.9}, {12: 0.2}, {13: 0.7}))
    sample = run(net, Multinomial(T))
    assert opened(sample) == [[], [1], [1, 3], [0, 1, 3], [0, 1, 2, 3]]


def test_multinomial_network_sees_noise_not_masks(scripted) -> None:
    seen: list[list[int]] = []

    def script(x: list[int]) -> list[dict[int, float]]:
        seen.append(x[68:])
        return [{10: 0.5}, {11: 0.9}, {12: 0.2}, {13: 0.7}]

    run(scripted(script), Multinomial(T), carry="keep")
    assert all(token < MASK for x in seen for token in x)
    assert seen[1][1] == seen[3][1] == 11  # what is fixed is carried over


def test_autoregressive_cache_equals_reading_the_whole_record(make_net) -> None:
    """Place by place with keys and values kept, against one pass over the finished record."""
    net = make_net("causal", patch=4, positions="rope").double()
    given = np.random.default_rng(0).integers(0, 2, (3, net.layout.given_variables))
    sample = Autoregressive().sample(net, given, net.layout, Decoding(), np.random.default_rng(0), film=True)
    tokens = torch.from_numpy(sample.tokens)
    logits = net(tokens)
    whole = torch.zeros(3, dtype=torch.float64)
    for group in net.layout.groups:
        here = tokens[:, torch.from_numpy(group.variables)]
        assert torch.equal(here, logits[group.type].argmax(-1))
        whole += logits[group.type].detach().log_softmax(-1).gather(-1, here[..., None]).double().sum((1, 2))
    assert sample.log_probability.tolist() == pytest.approx(whole.tolist(), rel=1e-5)  # summed from float32
    places = net.layout.places - net.layout.given_places
    assert sample.steps.tolist() == [places] * 3
    assert len(sample.film) == places + 1
    visible = [int((frame.tokens[0] < net.layout.sizes).sum()) for frame in sample.film]
    assert visible == sorted(set(visible))  # places appear one after another


@pytest.mark.parametrize("choice", [{"move_last": True}, {"stop_confidence": 0.9}, {"cache": True, "carry": "keep"}])
def test_easy_first_choices_are_refused_where_they_mean_nothing(make_net, choice: dict[str, object]) -> None:
    given = np.zeros((1, 68), dtype=np.int64)
    for process, attention in ((Autoregressive(), "causal"), (Gaussian(), "full")):
        net = make_net(attention)
        with pytest.raises(UserError, match=next(iter(choice))):
            process.sample(net, given, net.layout, Decoding(**choice), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"order": "turns"}, "order 'turns' is unknown: choose one of confidence"),
        ({"steps": 0}, "steps is from 1 to 1,000, not 0"),
        ({"imaginations": 0}, "imaginations is from 1 to 1,024, not 0"),
        ({"temperature": -1.0}, "temperature is from 0 to 100, not -1"),
        ({"cache": True}, "carry = 'predict' changes it: set carry = 'keep'"),
        ({"ahead": 2}, "works with cache"),
        ({"order": "segments", "move_last": True}, "choose another order, or leave move_last out"),
    ],
)
def test_choices_that_cannot_be_are_refused(choice: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Decoding(**choice)


def test_gaussian_legality_and_seed(make_net) -> None:
    net = make_net("prefix", paradigm="s-aa")
    given = np.zeros((2, 68), dtype=np.int64)
    allowed = np.zeros((2, 1969), dtype=bool)
    allowed[:, [7, 9]] = True
    draws = [
        Gaussian(20).sample(net, given, net.layout, Decoding(), np.random.default_rng(seed), allowed)
        for seed in (0, 0, 1)
    ]
    assert set(draws[0].tokens[:, 68].tolist()) <= {7, 9}
    assert np.array_equal(draws[0].tokens, draws[1].tokens)
    assert np.array_equal(draws[0].log_probability, draws[1].log_probability)
    assert not np.array_equal(draws[0].log_probability, draws[2].log_probability)
