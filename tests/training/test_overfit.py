"""The first sanity check of any learner: 64 records are learnt by heart, under every objective for discrete tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diffusearch.data.records import Records
from diffusearch.diffusion.decoding import Decoding
from diffusearch.tokens.batch import tokenise
from diffusearch.training.processes import World
from diffusearch.training.state import Training

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("paradigm", "process", "attention", "steps"),
    [
        ("s-a", "absorbing", "prefix", 30),
        ("s-asa", "absorbing", "prefix", 40),
        ("s-asa", "multinomial", "full", 50),
        ("s-asa", "autoregressive", "causal", 35),
    ],
)
def test_64_records_by_heart(
    make_recipe, records: Path, tmp_path: Path, paradigm: str, process: str, attention: str, steps: int
) -> None:
    trunk = {"layers": 2, "width": 64, "heads": 4, "dropout": 0.0, "attention": attention}
    recipe = make_recipe(
        process={"kind": process},
        loss={"time_weight": "constant", "full_noise": 0.3, "action": 5.0},
        model={"paradigm": paradigm, "head_width": 16, "trunk": trunk},
        optimiser={"kind": "muon", "rate": 5e-3, "batch": 64, "steps": steps, "warmup": 5},
    )
    source = Records(records)
    training = Training(recipe, tmp_path, [source], World(0, 1))
    losses = [training.take_step().total for _ in range(steps)]
    assert losses[-1] < 0.7 * losses[0]
    net, shape = training.net.eval(), training.net.layout
    batch = tokenise(source.take(np.arange(64)), shape)
    given = batch.tokens[:, : shape.given_variables].numpy()
    sample = training.process.sample(net, given, shape, Decoding(), np.random.default_rng(0), batch.legal.numpy())
    action = shape.segment("a", 0)
    assert action is not None
    right = (sample.tokens[:, action.start] == batch.tokens[:, action.start].numpy()).mean()
    assert float(right) >= 0.95
