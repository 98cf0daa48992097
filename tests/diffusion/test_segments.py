"""The order `segments`: whole moves and whole states, easy first by their joint log-likelihood."""

from __future__ import annotations

import math

import numpy as np

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.ranking import easiest_segments
from diffusearch.diffusion.steps import schedule
from diffusearch.tokens.layout import layout


def test_segments_are_ranked_as_a_whole() -> None:
    """A move is fixed before another that is less sure, wherever it stands; states follow the same rule as wholes."""
    whole = layout("s-asa", 2, "compact", 8)  # a_0, s_1 (68 variables), a_1
    log_likelihood = np.full((2, 70), math.log(0.95))
    log_likelihood[:, 0], log_likelihood[:, 69] = math.log(0.4), math.log(0.3)
    log_likelihood[1, 69] = math.log(0.5)
    visible = np.zeros((2, 70), dtype=bool)
    first = easiest_segments(log_likelihood, visible, whole, 1)
    assert first[0].nonzero()[0].tolist() == [0]
    assert first[1].nonzero()[0].tolist() == [69]
    log_likelihood[0, 1:69] = math.log(0.9999)  # 0.9999 ** 68 = 0.99; at 0.95 it is 0.03, less than the move after it
    second = easiest_segments(log_likelihood, first, whole, 2)
    assert second[0].nonzero()[0].tolist() == list(range(69))
    assert second[1].nonzero()[0].tolist() == [0, 69]
    assert easiest_segments(log_likelihood, second, whole, 3).all()


def test_a_state_waits_for_the_move_and_the_state_that_lead_to_it() -> None:
    """However sure its squares are: they are sure one by one, and all of them depend on the move."""
    whole = layout("s-asa", 4, "compact", 8)  # a_0, s_1, a_1, s_2, a_2, s_3, a_3
    segments = [segment for segment in whole.segments if not segment.given]
    rng = np.random.default_rng(3)
    log_likelihood = rng.normal(-0.5, 0.3, (50, whole.predicted)).clip(max=-1e-6)
    starts = [segment.start - whole.given_variables for segment in segments]
    for column, segment in zip(starts, segments, strict=True):
        if segment.kind == "s":
            log_likelihood[:, column : column + 68] = -1e-6
    visible = np.zeros(log_likelihood.shape, dtype=bool)
    ranks = np.zeros((50, len(segments)), dtype=int)
    for count in range(1, len(segments) + 1):
        visible = easiest_segments(log_likelihood, visible, whole, count)
        shown = visible[:, starts]
        assert (shown.sum(1) == count).all()  # whole segments, one more in each call
        ranks += ~shown
    for column, segment in enumerate(segments):
        if segment.kind == "s":
            assert (ranks[:, column] > ranks[:, column - 1]).all()  # the move before it
            assert column < 3 or (ranks[:, column] > ranks[:, column - 2]).all()  # the state before that
    assert (ranks[:, 6] < ranks[:, 1]).any()  # a move may come before states


def test_a_call_fixes_a_whole_move_or_state() -> None:
    whole = layout("s-asa", 3, "compact", 8)
    assert [keep for *_, keep in schedule(whole, Decoding(order="segments"), 20)] == [1, 2, 3, 4, 5]
    assert [keep for *_, keep in schedule(whole, Decoding(order="segments", steps=2), 20)] == [1, 5]
