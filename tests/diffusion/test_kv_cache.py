"""Decoding with the key-value cache: exact where it must be, fewer places, the same for a row alone or in a batch.

Networks compute in float64 here, so that two ways to the same result agree on every processor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding, Floats, Ints
from diffusearch.diffusion.multinomial import Multinomial
from diffusearch.diffusion.process import Process
from diffusearch.diffusion.sampling import Sample
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.kv_cache import KVCache

T = 8
MakeNet = Callable[..., Denoiser]


@pytest.fixture(name="make_net")
def make_double_net(make_net: MakeNet) -> MakeNet:
    return lambda *args, **options: make_net(*args, **options).double()


def close(one: Floats, two: Floats) -> bool:
    """Whether two results differ by rounding at most, relative to their size."""
    return bool(np.abs(one - two).max() <= 1e-5 * np.abs(two).max())


def roots(net: Denoiser, batch: int) -> Ints:
    sizes = net.layout.sizes[: net.layout.given_variables]
    return np.random.default_rng(5).integers(0, sizes, (batch, len(sizes)))


def decode(net: Denoiser, given: Ints, process: Process | None = None, **decoding: object) -> Sample:
    choice = Decoding(**({"steps": T, "carry": "keep"} | decoding))  # type: ignore[arg-type]
    generator = np.random.default_rng(1)
    return (process or Absorbing(T)).sample(net, given, net.layout, choice, generator, film=True)


def assert_same(one: Sample, two: Sample) -> None:
    assert len(one.film) == len(two.film)
    assert all(np.array_equal(a.tokens, b.tokens) for a, b in zip(one.film, two.film, strict=True))
    assert close(one.log_probability, two.log_probability)
    assert np.array_equal(one.steps, two.steps)


@pytest.mark.parametrize("attention", ["full", "prefix"])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"order": "left-to-right"},
        {"order": "margin"},
        {"stop_confidence": 0.02},  # rows end at different times
    ],
)
def test_one_layer_is_exact(make_net: MakeNet, attention: str, choices: dict[str, object]) -> None:
    """Keys and values of the only layer depend on their own place alone, so that caching them is exact."""
    for positions, patch in (("learned", 8), ("rope", 1)):
        net = make_net(attention, positions, layers=1, patch=patch, head="typed")
        given = roots(net, 3)
        assert_same(decode(net, given, **choices), decode(net, given, cache=True, **choices))


@pytest.mark.parametrize("kind", [{"head": "typed"}, {"head": "squares"}, {"head": "squares", "root_value": True}])
def test_what_a_head_reads_is_computed(make_net: MakeNet, kind: dict[str, object]) -> None:
    """The first call has an empty cache: the heads must read what a whole pass computes."""
    net = make_net(**kind)
    given = roots(net, 2)
    exact, kept = decode(net, given, steps=1), decode(net, given, steps=1, cache=True)
    assert_same(exact, kept)
    for one, two in ((exact.raw_move_logits, kept.raw_move_logits), (exact.value_logits, kept.value_logits)):
        assert (one is None) == (two is None)
        assert one is None or two is None or close(one, two)


def test_types_without_open_variables_are_not_computed(make_net: MakeNet, monkeypatch: pytest.MonkeyPatch) -> None:
    net = make_net(head="typed")
    layout, given, asked, logits = net.layout, roots(net, 2), [], net.logits
    monkeypatch.setattr(
        net, "logits", lambda *a, **more: asked.append([group.type for group in a[2]]) or logits(*a, **more)
    )
    steps = layout.predicted // 3
    sample = decode(net, given, Absorbing(steps), order="left-to-right", steps=steps)
    assert len(asked[0]) == len(layout.groups) > len(asked[-1])
    assert set(asked[-1]) == set(layout.types[-(layout.predicted // steps) :])
    again = decode(net, given, Absorbing(steps), order="left-to-right", steps=steps, temperature=1e-9)
    assert len(asked[-1]) == len(layout.groups)  # sampling asks all, and chooses the same
    assert np.array_equal(sample.tokens, again.tokens)


def test_redrawn_noise_is_seen(make_net: MakeNet) -> None:
    net = make_net(layers=1, head="typed")
    given = roots(net, 2)
    assert_same(decode(net, given, Multinomial(T)), decode(net, given, Multinomial(T), cache=True))


def test_deeper_nets_are_exact_until_something_is_cached(make_net: MakeNet) -> None:
    net = make_net("prefix", patch=1)
    given = roots(net, 2)
    assert_same(decode(net, given, steps=2), decode(net, given, steps=2, cache=True))
    exact, kept = decode(net, given), decode(net, given, cache=True)
    assert not close(exact.log_probability, kept.log_probability)


@pytest.mark.parametrize(("attention", "root"), [("full", 9), ("prefix", 0)])
def test_only_open_and_newly_fixed_places_are_computed(
    make_net: MakeNet, monkeypatch: pytest.MonkeyPatch, attention: str, root: int
) -> None:
    net = make_net(attention, paradigm="s-aa", horizon=4)  # four actions, one fixed a step, behind nine places
    given, computed, forward = roots(net, 3), [], net.trunk.forward
    read = net.read_root(torch.from_numpy(given), net.layout) if net.prefix else None
    monkeypatch.setattr(net, "read_root", lambda *_: read)
    monkeypatch.setattr(net.trunk, "forward", lambda x, *more: computed.append(x.shape[1]) or forward(x, *more))
    layout = net.layout
    whole = layout.places - (layout.given_places if net.prefix else 0)
    decode(net, given, Absorbing(4), steps=4, cache=True, order="left-to-right")
    assert computed == [root + 4, 4, 3, 2]  # the first call fixes the move and computes all places
    computed.clear()
    decode(net, given, Absorbing(4), steps=4, cache=True, move_last=True)
    assert computed == [root + 4, 4, 3, 2, whole]  # all places are computed before the move is fixed


def test_looking_ahead_computes_what_may_be_fixed_next(make_net: MakeNet, monkeypatch: pytest.MonkeyPatch) -> None:
    net = make_net("full", paradigm="s-asa", horizon=2, patch=1)
    layout, given, computed, forward = net.layout, roots(net, 2), [], net.trunk.forward
    monkeypatch.setattr(net.trunk, "forward", lambda x, *more: computed.append(x.shape[1]) or forward(x, *more))
    targets, steps = layout.predicted, 10
    sample = decode(net, given, Absorbing(steps), steps=steps, cache=True, ahead=2, order="left-to-right")
    assert computed[0] == layout.places
    most = -(-targets // steps)  # fixed in a step, and so computed anew in the next
    assert all(count <= most + 2 * most + 1 for count in computed[1:])
    assert bool((sample.tokens < layout.sizes).all())
    alone = decode(net, given[:1], Absorbing(steps), steps=steps, cache=True, ahead=2, order="left-to-right")
    assert np.array_equal(alone.tokens[0], sample.tokens[0])


def test_looking_ahead_counts_the_variables_of_segments(make_net: MakeNet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call fixes so many moves and states, and the cache counts variables: a state has 68, a move one."""
    net = make_net("prefix", horizon=4, patch=1)
    given, due, hidden = roots(net, 3), [], KVCache.hidden
    monkeypatch.setattr(KVCache, "hidden", lambda *a: due.append(a[-1]) or hidden(*a))
    sample = decode(net, given, Absorbing(20), steps=7, cache=True, ahead=2, order="segments")
    assert bool((sample.tokens < net.layout.sizes).all())
    shown = np.array([(frame.tokens < net.layout.sizes).sum(1) for frame in sample.film])
    assert all(number >= fixed.max() > 0 for number, fixed in zip(due, np.diff(shown, axis=0), strict=True))


def test_the_move_is_fixed_after_a_whole_pass(make_net: MakeNet) -> None:
    """Cached places are old, but the logits of the first move are those of a whole pass over the current record."""
    net = make_net("full", patch=1)
    layout, given = net.layout, roots(net, 2)
    move = layout.segment("a", 0)
    assert move is not None
    kept = decode(net, given, cache=True, ahead=1, move_last=True)
    before = kept.tokens.copy()
    before[:, layout.given_variables :] = kept.film[-2].tokens[:, layout.given_variables :]
    with torch.inference_mode():
        logits = net(torch.from_numpy(before))["action"][:, 0].numpy()
    assert kept.raw_move_logits is not None
    assert close(kept.raw_move_logits, logits)


@pytest.mark.parametrize("patch", [1, 8])
def test_a_row_is_the_same_alone(make_net: MakeNet, patch: int) -> None:
    """Also with several variables a place, where rows may settle different numbers of places in a step."""
    net = make_net(patch=patch, layers=1 if patch == 8 else 2, head="typed")
    given = roots(net, 3)
    together = decode(net, given, cache=True)
    for row in range(3):
        alone = decode(net, given[row : row + 1], cache=True)
        assert np.array_equal(alone.tokens[0], together.tokens[row])


def test_the_residual_state_decodes_too(make_net: MakeNet) -> None:
    net = make_net("prefix", residual_state=True)
    sample = decode(net, roots(net, 2), order="plies", cache=True)
    assert bool((sample.tokens < net.layout.sizes).all())


def test_refusals(make_net: MakeNet) -> None:
    for carry in ("predict", "gumbel"):
        with pytest.raises(UserError, match="cache reuses what is fixed"):
            Decoding(cache=True, carry=carry)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="ahead = 2 works with cache"):
        Decoding(ahead=2)
    net = make_net("causal")
    with pytest.raises(UserError, match="cache = true needs attention"):
        decode(net, roots(net, 1), cache=True)
    net = make_net("prefix", self_conditioning=True)
    with pytest.raises(UserError, match="self_conditioning = true: leave cache out"):
        decode(net, roots(net, 1), cache=True)
