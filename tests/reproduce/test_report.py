"""What the page of `reproduce all` says before its tables: what was done, and what the scale limits."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diffusearch.reproduce import limits_text, report
from diffusearch.reproduce.contrasts import RowOutcomes, Spread
from diffusearch.reproduce.exhibits import COUNTS
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.reproduce.whole import Whole, planned
from diffusearch.reproduce.work import FILE, Call, Ledger, read_calls


@pytest.fixture
def whole(tmp_path: Path, actions: Path) -> Whole:
    setting = Setting(Path(), tmp_path, scale=LAPTOP, recipe=LAPTOP.recipe, actions=actions, skip_actions=4300)
    return planned(setting)


def futures(share: float) -> dict[str, Any]:
    """Results of futures whose first state follows from the first move so often."""
    match = {"n": 2000, "accuracy": share, "interval": [share - 0.01, share + 0.01]}
    rest = dict.fromkeys(("valid_action", "best", "valid_state"))
    return {"steps": [{"step": 0, "match": None, **rest}, {"step": 1, "match": match, **rest}]}


def limits(whole: Whole, found: Gathered) -> str:
    found.figures.setdefault(("futures", "DiffuSearch, 600 games"), {})
    return limits_text.limits(whole, found)


@pytest.mark.parametrize(("share", "told"), [(0.02, True), (0.37, False)])
def test_futures_that_do_not_follow_the_rules_are_told_before_the_verdicts(
    whole: Whole, share: float, told: bool
) -> None:
    found = Gathered(figures={("futures", "DiffuSearch, 600 games"): {"futures": futures(share)}})
    page = limits(whole, found)
    assert f"in {100 * share:.1f} [" in page
    assert "(paper 37.22)" in page
    assert ("do not follow the rules yet" in page) is told
    assert "what is fixed stays" not in page
    found.figures["futures", "DiffuSearch, what is fixed stays"] = {"futures": futures(0.13)}
    assert "It is in 13.0 [12.0, 14.0] % where what is fixed stays." in limits(whole, found)
    assert "**Futures.**" not in limits(whole, Gathered())


def test_the_resolution_is_the_median_of_the_tests_that_are_measured(whole: Whole) -> None:
    found = Gathered()
    assert "**Resolution.**" not in limits(whole, found)
    half = np.array([True, False] * 200)
    found.outcomes["main", "DiffuSearch, 600 games"] = RowOutcomes((half,), ("s-asa",))
    found.outcomes["main", "S-A, 600 games"] = RowOutcomes((half[::-1],), ("s-a",))
    page = limits(whole, found)
    assert "reaches 9.8 points to each side (the median of the 1 tests " in page  # 1.96 * 1 / sqrt(400)
    assert page.endswith("All of the paper's differences are larger than that.")  # 19.2
    found.outcomes["training", "Absorbing, linear weight"] = RowOutcomes((half,), ("s-asa",))
    found.outcomes["training", "Absorbing, constant weight"] = RowOutcomes((half[::-1],), ("constant",))
    assert page != limits(whole, found)
    assert "is smaller than the reach of its interval here in: Absorbing, linear weight minus" in limits(whole, found)


def test_size_tests_and_seeds_are_told(whole: Whole) -> None:
    found = Gathered(seeds=Spread(0.007, (3, 2)))
    page = report._done(whole, found)
    assert "600 training games instead of 10k" in page
    assert "204,800 record-passes in a usual run (the paper: at most 132 million)" in page
    assert "on at most 2,000 positions of `actions.parquet` behind row 4,300" in page
    assert "over seeds is 0.7 points, estimated from 5 runs of 2 recipes" in page


def test_without_second_seeds_the_intervals_are_called_too_narrow(whole: Whole) -> None:
    assert "No row has a second seed yet, so that intervals" in report._done(whole, Gathered())


def test_sections_are_named_by_their_place_in_the_paper(whole: Whole) -> None:
    found = Gathered()
    for exhibit in whole.exhibits.values():
        for row in exhibit.rows:
            found.figures[exhibit.name, whole.setting.shown(row.label)] = {}
    heads = [report._exhibit(exhibit, found, whole.setting)[0] for exhibit in whole.exhibits.values()]
    assert "## Table 5. Training methods" in heads
    assert "## Figure 4 (left, middle) and Table 6. Accuracy and latency against depth" in heads
    assert "## Not in the paper. Planner, dynamics and evaluator with the packaged weights" in heads
    assert report._heading(*COUNTS) == "## Table 1. Data: records and games"


def test_legality_without_the_mask_is_that_of_the_row_without_it(whole: Whole) -> None:
    raw = {"n": 2000, "accuracy": 0.407, "interval": [0.386, 0.429]}
    key = "decoding", "DiffuSearch, no legality mask"
    assert key[1] in [row.label for row in whole.exhibits["decoding"].rows]
    found = Gathered(figures={key: {"actions": {"legality": {"raw": raw}}}})
    assert report._without_mask(found).endswith("first move of this run is legal in 40.7 [38.6, 42.9] %.")
    assert report._without_mask(Gathered()) == ""


def test_tests_are_told_as_they_were_measured(whole: Whole) -> None:
    """A test file with fewer rows than are asked for."""
    found = Gathered(figures={("main", "S-A, 600 games"): {"actions": {"n": 1873}, "puzzles": {"n": 1000}}})
    page = report._done(whole, found)
    assert "on 1,873 positions of `actions.parquet`" in page
    assert "on 1,000 puzzles" in page
    found.figures["steps", "random, 1 step"] = {"actions": {"n": 2000}}
    assert "on 1,873 to 2,000 positions" in report._done(whole, found)


def test_processor_time_that_was_estimated_is_told(whole: Whole) -> None:
    assert limits_text.time_spent(whole.setting) == ""
    Ledger(whole.setting.results).note("labels", 7200.0)
    assert limits_text.time_spent(whole.setting).endswith("hours by the clock.")
    (counted,) = read_calls(whole.setting.results)
    guessed = Call("2026-11-18T09:28:00+00:00", 60.0, {"training": 3600.0}, "estimated: this call kept no ledger")
    (whole.setting.results / FILE).write_text(json.dumps([asdict(guessed), asdict(counted)]))
    told = limits_text.time_spent(whole.setting)
    assert "took 3.0 core-hours (training 1.0, labels 2.0)" in told
    assert told.endswith(
        "Not all of it was counted by the command: 1.0 core-hours of the call of 2026-11-18 09:28 are estimated: this "
        "call kept no ledger."
    )
