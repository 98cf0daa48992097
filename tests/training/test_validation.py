"""Validation counts what it says, and leaves the weights as they were."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.records import Line, Records, write_records
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding, Ints
from diffusearch.diffusion.sampling import Sample
from diffusearch.tokens.layout import Layout
from diffusearch.training import loop, state
from diffusearch.training.log import Validation
from diffusearch.training.processes import World
from diffusearch.training.state import Training
from diffusearch.training.validation import _likeliest, validate

BARE = "7k/8/8/8/8/8/8/K7 w - - 0 1"


def training_on(recipe, records: Path, out: Path) -> Training:
    return Training(recipe, out, [Records(records)], World(0, 1))


def test_accuracy_counts_known_actions_only(make_recipe, tmp_path: Path) -> None:
    """One legal move: always right. A root whose action nobody knows does not count."""
    only = "7k/8/8/8/8/8/6qr/K7 w - - 0 1"
    assert [move.uci() for move in chess.Board(only).legal_moves] == ["a1b1"]
    lines = [Line(only, ["a1b1"], [3]), Line(BARE, [], [64]), Line(BARE, [])]
    write_records(lines, tmp_path / "r", 2)
    training = training_on(make_recipe(model={"root_value": True}), tmp_path / "r", tmp_path)
    result = validate(training, Records(tmp_path / "r"), 99)
    assert result.figures["accuracy"] == 1.0
    assert result.figures["decoded accuracy"] == 1.0
    assert result.figures["action loss"] == pytest.approx(0.0)
    assert result.score == 1.0
    value = result.figures["value error"]  # of the two that are known; fresh weights say about one half
    assert value == pytest.approx((abs(0.5 - 3.5 / 128) + abs(0.5 - 64.5 / 128)) / 2, abs=0.05)


@pytest.mark.parametrize("paradigm", ["s-v", "sa-v"])
def test_value_paradigms_are_judged_by_their_error(make_recipe, records: Path, tmp_path: Path, paradigm: str) -> None:
    training = training_on(make_recipe(model={"paradigm": paradigm}), records, tmp_path)
    result = validate(training, Records(records), 32)
    assert set(result.figures) == {"value error"}
    assert result.score == -result.figures["value error"]


@pytest.mark.parametrize("process", ["absorbing", "multinomial", "gaussian", "autoregressive", "direct"])
def test_every_process_is_measured_and_weights_stay(make_recipe, records: Path, tmp_path: Path, process: str) -> None:
    attention = "causal" if process == "autoregressive" else "prefix"
    recipe = make_recipe(process={"kind": process}, model={"trunk": {"attention": attention}}, optimiser={"ema": 0.9})
    training = training_on(recipe, records, tmp_path)
    training.take_step()
    before = {name: p.detach().clone() for name, p in training.net.named_parameters()}
    first, second = (validate(training, Records(records), 24) for _ in range(2))
    assert first == second
    assert {"accuracy", "raw legal", "decoded accuracy"} <= set(first.figures)
    assert all(torch.equal(before[name], p) for name, p in training.net.named_parameters())
    training.take_step()  # and training goes on


def test_the_move_is_decoded_as_the_recipe_says(
    make_recipe, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the model's whole horizon with the recipe's own decoding, and besides in one step."""
    recipe = make_recipe(decoding={"order": "plies", "steps": 3, "imaginations": 2, "temperature": 0.5})
    training = training_on(recipe, records, tmp_path)
    asked: list[tuple[Decoding, int, int]] = []
    sample = Absorbing.sample

    def noted(self: Absorbing, net: object, given: Ints, layout: Layout, decoding: Decoding, *rest: object) -> Sample:
        asked.append((decoding, layout.horizon, len(given)))
        return sample(self, net, given, layout, decoding, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Absorbing, "sample", noted)
    validate(training, Records(records), 24)
    assert asked == [(Decoding(steps=1), 2, 24), (recipe.decoding, 2, 48)]


def test_of_several_imaginations_the_likeliest_counts() -> None:
    tokens = np.array([[1, 1], [2, 2], [3, 3], [4, 4]])  # two records, two imaginations each
    sample = Sample(tokens, np.array([-2.0, -1.0, -1.0, -5.0]), None, None, np.ones(4, dtype=np.int64))
    assert _likeliest(sample, 2).tolist() == [[2, 2], [3, 3]]


def test_the_loop_uses_the_whole_of_a_given_file(
    make_recipe, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """watch.validate_records cuts the validation split only."""
    limits: list[int] = []

    def noted(training: Training, some: Records, limit: int) -> Validation:
        limits.append(limit)
        return Validation(0.0, {})

    monkeypatch.setattr(state, "validate", noted)
    short = {"optimiser": {"steps": 1}, "watch": {"validate_records": 16}}
    loop.train(make_recipe(**short), tmp_path / "file")
    monkeypatch.setattr(loop, "open_sources", lambda *_: ([Records(records)], Records(records)))
    loop.train(make_recipe(**short, data={"validation": ""}), tmp_path / "split")
    assert limits == [len(Records(records)), 16]
