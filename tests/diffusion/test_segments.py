"""The order `segments`: whole moves and whole states, easy first by their joint log-likelihood."""

from __future__ import annotations

import math

import numpy as np

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.sampling import easiest_segments, schedule
from diffusearch.tokens.layout import layout


def test_segments_are_ranked_as_a_whole() -> None:
    """A state whose squares are all surer than the move is less sure as a whole."""
    whole = layout("s-asa", 2, "compact", 8)  # a_0, s_1 (68 variables), a_1
    log_likelihood = np.full((2, 70), math.log(0.95))
    log_likelihood[:, 0], log_likelihood[:, 69] = math.log(0.4), math.log(0.3)
    log_likelihood[1, 1:69] = math.log(0.999)
    visible = np.zeros((2, 70), dtype=bool)
    first = easiest_segments(log_likelihood, visible, whole, 1)
    assert first[0].nonzero()[0].tolist() == [0]  # the move: 0.95 ** 68 = 0.03
    assert first[1].nonzero()[0].tolist() == list(range(1, 69))  # the state: 0.999 ** 68 = 0.93
    log_likelihood[0, 1:69] = math.log(0.9999)
    second = easiest_segments(log_likelihood, first, whole, 2)
    assert second[0].nonzero()[0].tolist() == list(range(69))
    assert second[1].nonzero()[0].tolist() == list(range(69))
    assert easiest_segments(log_likelihood, second, whole, 3).all()


def test_a_call_fixes_a_whole_move_or_state() -> None:
    whole = layout("s-asa", 3, "compact", 8)
    assert [keep for *_, keep in schedule(whole, Decoding(order="segments"), 20)] == [1, 2, 3, 4, 5]
    assert [keep for *_, keep in schedule(whole, Decoding(order="segments", steps=2), 20)] == [1, 5]
