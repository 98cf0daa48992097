"""The paper's easy-first rule, step by step, on likelihoods written by hand.

Section 3.3: at timestep t all targets are predicted anew and ranked by the log-likelihood of their tokens; the share
(t - 1)/T with the least is noise again. `carry` names what happens to variables that are visible already:

predict   the rule as written: they are predicted and ranked like the others, and take the new token or turn to noise
keep      they stay as they are, and only noise is ranked
gumbel    as predict, ranked with Gumbel noise, as in the authors' evaluation

The record has four moves behind the root. M is noise. After step t of T = 4, 4 (t - 1)/4 = t - 1 moves are noise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.sampling import Sample, denoise
from diffusearch.diffusion.torch_network import TorchNetwork
from diffusearch.tokens.layout import layout

LAYOUT = layout("s-aa", 4, "compact", 8)
GIVEN = LAYOUT.given_variables
M = int(LAYOUT.sizes[GIVEN])  # the mask's token: one more than the last move's

Step = tuple[tuple[int, float], tuple[int, float], tuple[int, float], tuple[int, float]]

# What the network answers in each call: for each of the four moves its likeliest token and that token's probability.
ANSWERS: list[Step] = [
    ((10, 0.5), (11, 0.9), (12, 0.2), (13, 0.7)),
    ((10, 0.6), (21, 0.4), (12, 0.3), (13, 0.8)),
    ((30, 0.95), (11, 0.7), (12, 0.1), (13, 0.5)),
    ((30, 0.9), (11, 0.6), (12, 0.3), (23, 0.4)),
]


class Recorder:
    """Samples with a scripted network and writes down the four moves that each call sees."""

    def __init__(self, scripted: Any, answers: list[Step]) -> None:
        self.seen: list[list[int]] = []
        self.answers = answers
        self.net = scripted(self.answer)

    def answer(self, x: list[int]) -> list[dict[int, float]]:
        if len(self.seen) < self.net.calls:
            self.seen.append(x[GIVEN:])
        return [{token: probability} for token, probability in self.answers[self.net.calls - 1]]

    def sample(self, timesteps: int, steps: int, seed: int = 0, **decoding: Any) -> Sample:
        root = np.zeros((1, GIVEN), dtype=np.int64)
        choice = Decoding(order="confidence", steps=steps, legal=False, **decoding)
        network = TorchNetwork(self.net, root, LAYOUT, choice)
        sample = denoise(network, root, LAYOUT, choice, timesteps, np.random.default_rng(seed))
        self.seen.append(sample.tokens[0, GIVEN:].tolist())
        return sample


def test_predict_ranks_all_targets_anew_at_every_step(scripted: Any) -> None:
    recorder = Recorder(scripted, ANSWERS)
    sample = recorder.sample(4, 4, carry="predict")
    assert recorder.seen == [
        [M, M, M, M],
        # t = 4: 0.5, 0.9, 0.2, 0.7; the three least are noise: moves 2, 0, 3
        [M, 11, M, M],
        # t = 3: 0.6, 0.4, 0.3, 0.8; the two least are noise: move 2 and the visible move 1, now only 0.4
        [10, M, M, 13],
        # t = 2: 0.95, 0.7, 0.1, 0.5; the least is noise: move 2. The visible move 0 takes its new token 30
        [30, 11, M, 13],
        # t = 1: nothing is noise; the visible move 3 takes its new token 23, though it is less likely than 13 was
        [30, 11, 12, 23],
    ]
    assert recorder.net.calls == 4
    assert sample.steps.tolist() == [4]


def test_predict_counts_the_likelihoods_of_the_last_prediction(scripted: Any) -> None:
    """All four tokens come from the last call, so that call's probabilities are the record's."""
    sample = Recorder(scripted, ANSWERS).sample(4, 4, carry="predict")
    assert float(sample.log_probability[0]) == pytest.approx(math.log(0.9 * 0.6 * 0.3 * 0.4), abs=1e-3)


def test_keep_never_touches_what_is_visible(scripted: Any) -> None:
    recorder = Recorder(scripted, ANSWERS)
    sample = recorder.sample(4, 4, carry="keep")
    assert recorder.seen == [
        [M, M, M, M],
        [M, 11, M, M],  # t = 4: 0.5, 0.9, 0.2, 0.7
        [M, 11, M, 13],  # t = 3: move 1 stays 11; of 0.6, 0.3, 0.8 the likeliest is move 3
        [30, 11, M, 13],  # t = 2: of 0.95, 0.1 the likeliest is move 0
        [30, 11, 12, 13],  # t = 1
    ]
    assert float(sample.log_probability[0]) == pytest.approx(math.log(0.95 * 0.9 * 0.3 * 0.8), abs=1e-3)


def test_predict_goes_on_to_the_last_step_when_nothing_is_noise_any_more(scripted: Any) -> None:
    """T = 5: after t = 5, 4, 3, 2, 1 the share (t - 1)/5 of four moves is 3.2, 2.4, 1.6, 0.8, 0: rounded down."""
    recorder = Recorder(scripted, [*ANSWERS, ((40, 0.5), (41, 0.5), (42, 0.5), (43, 0.5))])
    recorder.sample(5, 5, carry="predict")
    assert [moves.count(M) for moves in recorder.seen] == [4, 3, 2, 1, 0, 0]
    assert recorder.seen[-2] == [30, 11, 12, 23]
    assert recorder.seen[-1] == [40, 41, 42, 43]  # visible, and predicted anew all the same


def test_predict_with_fewer_steps_skips_times(scripted: Any) -> None:
    """Two of four steps: the times are 4, 2, 0, so after the first call 4 * 2/4 = 2 moves are noise."""
    recorder = Recorder(scripted, [ANSWERS[0], ANSWERS[3]])
    recorder.sample(4, 2, carry="predict")
    assert recorder.seen == [
        [M, M, M, M],
        [M, 11, M, 13],  # 0.5, 0.9, 0.2, 0.7: the two least are moves 2 and 0
        [30, 11, 12, 23],
    ]


def test_predict_in_one_step_is_the_arg_max(scripted: Any) -> None:
    recorder = Recorder(scripted, ANSWERS[:1])
    recorder.sample(4, 1, carry="predict")
    assert recorder.seen == [[M, M, M, M], [10, 11, 12, 13]]


def test_gumbel_ranks_by_lot_and_predicts_as_the_literal_rule(scripted: Any) -> None:
    even: list[Step] = [((10, 0.5), (11, 0.5), (12, 0.5), (13, 0.5))] * 3 + [ANSWERS[3]]
    firsts: set[int] = set()
    for seed in range(40):
        recorder = Recorder(scripted, even)
        recorder.sample(4, 4, seed, carry="gumbel")
        assert [moves.count(M) for moves in recorder.seen] == [4, 3, 2, 1, 0]
        assert recorder.seen[-1] == [30, 11, 12, 23]  # lots choose which are noise, not the tokens
        firsts |= {move for move in recorder.seen[1] if move != M}
    assert firsts == {10, 11, 12, 13}
    again = [Recorder(scripted, even) for _ in range(2)]
    for recorder in again:
        recorder.sample(4, 4, 7, carry="gumbel")
    assert again[0].seen == again[1].seen
